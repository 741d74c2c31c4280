import { type Redemption } from "@fairway/wire";
import { SimpleGrid } from "@chakra-ui/react";
import { useMemo, useState, type ReactNode } from "react";
import { formatCount, parseAmount } from "../../../lib/format.ts";
import { useLanguage } from "../../../lib/i18n.ts";
import { ChangeDialog, type ShownChange } from "../../../ui/bulk/change-dialog.tsx";
import type { Plan } from "../../../ui/bulk/plan.ts";
import { Money, useQuotaDisplay } from "../../../ui/display/money.tsx";
import { SelectField, TextField } from "../../../ui/form/field.tsx";
import { STATES } from "../columns.tsx";
import { useTexts } from "../texts.ts";
import { NO_CHANGE, buildPlan, type CodeChange, type CodePatch, type CodesDraft } from "./plan.ts";

interface CodesDialogProps {
  readonly codes: readonly Redemption[];
  onApply(plan: Plan<Redemption, CodePatch>): void;
  onClose(): void;
}

/** Changes many codes at once, after a preview of each one's changes. */
export function CodesDialog({ codes, onApply, onClose }: CodesDialogProps) {
  const t = useTexts();
  const language = useLanguage();
  const { quotaPerUnit, inCurrency } = useQuotaDisplay();
  const [draft, setDraft] = useState(NO_CHANGE);
  const [isChecked, setChecked] = useState(false);
  const hasValue = draft.value.trim() !== "";
  const quota = hasValue ? parseAmount(draft.value, inCurrency ? quotaPerUnit : 1) : undefined;
  const isGood = !hasValue || (quota ?? 0) > 0;
  const plan = useMemo(() => (isGood ? buildPlan({ draft, quota }, codes) : []), [isGood, draft, quota, codes]);
  const rest = formatCount(codes.length - plan.length, language);
  const set = (change: Partial<CodesDraft>) => setDraft((current) => ({ ...current, ...change }));
  const unchanged = { value: "", label: t("leave") };
  return (
    <ChangeDialog
      title={t("changeManyTitle", { count: codes.length })}
      plan={plan}
      toChosenRow={({ row }) => row}
      listShownChanges={(change) => listShownChanges(change, t)}
      summary={(count) => t("previewCount", { count, rest })}
      isGood={isGood}
      onSubmit={() => {
        setChecked(true);
        if (plan.length > 0) onApply(plan);
      }}
      onClose={onClose}
    >
      <SimpleGrid columns={{ base: 1, sm: 2 }} gap="4">
        <SelectField
          label={t("status")}
          value={draft.status}
          choices={[unchanged, { value: "on", label: t("enable") }, { value: "off", label: t("disable") }]}
          onChange={(status) => set({ status: status as CodesDraft["status"] })}
        />
        <TextField label={t("name")} placeholder={t("leave")} value={draft.name} onChange={(name) => set({ name })} />
        <TextField
          label={t("value")}
          inputMode="decimal"
          placeholder={t("leave")}
          value={draft.value}
          error={isChecked && !isGood ? t("valueInvalid") : undefined}
          onChange={(value) => set({ value })}
        />
      </SimpleGrid>
    </ChangeDialog>
  );
}

const FIELD_TEXT = { status: "state", name: "name", quota: "value" } as const satisfies Record<keyof CodePatch, string>;

function listShownChanges({ patch, undo }: CodeChange, t: ReturnType<typeof useTexts>): ShownChange[] {
  const shown = (field: keyof CodePatch, value: string | number | undefined): ReactNode => {
    if (field === "status") return t(STATES[Number(value)]?.text ?? "disabled");
    return field === "quota" ? <Money quota={Number(value)} /> : value;
  };
  return (Object.keys(patch) as (keyof CodePatch)[]).map((field) => ({
    label: t(FIELD_TEXT[field]),
    before: shown(field, undo[field]),
    after: shown(field, patch[field]),
  }));
}
