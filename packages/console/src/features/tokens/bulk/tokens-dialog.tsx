import { NEVER_EXPIRES, splitList, TOKEN_STATUS, type Token } from "@fairway/wire";
import { SimpleGrid } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { formatCount, formatExactTime } from "../../../lib/format.ts";
import { useLanguage } from "../../../lib/i18n.ts";
import { nowSeconds } from "../../../lib/now.ts";
import { modelsQuery } from "../../../session/models.ts";
import { ChangeDialog, type ShownChange } from "../../../ui/bulk/change-dialog.tsx";
import type { Plan } from "../../../ui/bulk/plan.ts";
import { ChipsField } from "../../../ui/form/chips-field.tsx";
import { SelectField, TextField } from "../../../ui/form/field.tsx";
import { groupsQuery } from "../api.ts";
import { useTexts } from "../texts.ts";
import { checkDraft, NO_CHANGE, buildPlan, type TokensDraft, type TokenChange, type TokenPatch } from "./plan.ts";

interface TokensDialogProps {
  readonly tokens: readonly Token[];
  onApply(plan: Plan<Token, TokenPatch>): void;
  onClose(): void;
}

/** Changes many tokens at once, after a preview of each one's changes. */
export function TokensDialog({ tokens, onApply, onClose }: TokensDialogProps) {
  const t = useTexts();
  const language = useLanguage();
  const [draft, setDraft] = useState(NO_CHANGE);
  const [isChecked, setChecked] = useState(false);
  const problems = checkDraft(draft, nowSeconds());
  const isGood = Object.keys(problems).length === 0;
  const plan = useMemo(() => (isGood ? buildPlan(draft, tokens) : []), [isGood, draft, tokens]);
  const rest = formatCount(tokens.length - plan.length, language);
  return (
    <ChangeDialog
      title={t("changeManyTitle", { count: tokens.length })}
      plan={plan}
      toChosenRow={({ row }) => row}
      listShownChanges={(change) => listShownChanges(change, t, language)}
      summary={(count) => t("previewCount", { count, rest })}
      isGood={isGood}
      onSubmit={() => {
        setChecked(true);
        if (isGood && plan.length > 0) onApply(plan);
      }}
      onClose={onClose}
    >
      <Fields
        draft={draft}
        problems={isChecked ? problems : {}}
        set={(change) => setDraft((current) => ({ ...current, ...change }))}
      />
    </ChangeDialog>
  );
}

interface FieldsProps {
  readonly draft: TokensDraft;
  readonly problems: ReturnType<typeof checkDraft>;
  set(change: Partial<TokensDraft>): void;
}

function Fields({ draft, problems, set }: FieldsProps) {
  const t = useTexts();
  const groups = Object.keys(useQuery(groupsQuery).data ?? {});
  const models = useQuery(modelsQuery).data ?? [];
  const unchanged = { value: "", label: t("leave") };
  const error = (name: keyof TokensDraft) => {
    const problem = problems[name];
    return problem && t(problem);
  };
  return (
    <SimpleGrid columns={{ base: 1, sm: 2 }} gap="4">
      <SelectField
        label={t("status")}
        value={draft.status}
        choices={[unchanged, { value: "on", label: t("enable") }, { value: "off", label: t("disable") }]}
        onChange={(status) => set({ status: status as TokensDraft["status"] })}
      />
      <SelectField
        label={t("group")}
        value={draft.groupMode === "" ? "" : `set:${draft.group}`}
        choices={[
          unchanged,
          ...["", ...groups].map((name) => ({ value: `set:${name}`, label: name || t("ownGroup") })),
        ]}
        onChange={(value) =>
          set(value === "" ? { groupMode: "" } : { groupMode: "set", group: value.slice("set:".length) })
        }
      />
      <SelectField
        label={t("expiry")}
        value={draft.expiryMode}
        choices={[unchanged, { value: "at", label: t("setTo") }, { value: "never", label: t("never") }]}
        onChange={(mode) => set({ expiryMode: mode as TokensDraft["expiryMode"] })}
      />
      {draft.expiryMode === "at" && (
        <TextField
          label={t("expiryNew")}
          type="datetime-local"
          value={draft.expires}
          error={error("expires")}
          onChange={(expires) => set({ expires })}
        />
      )}
      <SelectField
        label={t("models")}
        value={draft.modelMode}
        choices={[
          unchanged,
          { value: "set", label: t("setTo") },
          { value: "add", label: t("addThese") },
          { value: "remove", label: t("removeThese") },
          { value: "all", label: t("allModels") },
        ]}
        onChange={(mode) => set({ modelMode: mode as TokensDraft["modelMode"] })}
      />
      {draft.modelMode !== "" && draft.modelMode !== "all" && (
        <ChipsField
          label={t("modelNames")}
          values={draft.models}
          suggestions={models}
          placeholder={t("modelsHint")}
          duplicateText={t("modelsRepeated")}
          error={error("models")}
          onChange={(values) => set({ models: values })}
        />
      )}
    </SimpleGrid>
  );
}

const STATES: Readonly<Record<number, "enabled" | "disabled" | "expired" | "exhausted">> = {
  [TOKEN_STATUS.enabled]: "enabled",
  [TOKEN_STATUS.disabled]: "disabled",
  [TOKEN_STATUS.expired]: "expired",
  [TOKEN_STATUS.exhausted]: "exhausted",
};

function listShownChanges(
  { row, patch, undo }: TokenChange,
  t: ReturnType<typeof useTexts>,
  language: string,
): ShownChange[] {
  const hasAnyMember = (...names: (keyof TokenPatch)[]) => names.some((name) => patch[name] !== undefined);
  const status = ({ status: state = TOKEN_STATUS.disabled }: TokenPatch) => t(STATES[state] ?? "disabled");
  const group = (part: TokenPatch) => part.group || t("ownGroup");
  const expiry = ({ expired_time: at = NEVER_EXPIRES }: TokenPatch) =>
    at === NEVER_EXPIRES ? t("never") : formatExactTime(at, language);
  const models = (part: TokenPatch) => {
    const { model_limits_enabled: isLimited, model_limits: list } = { ...row, ...part };
    return isLimited ? splitList(list).join(", ") || t("none") : t("allModels");
  };
  const member = (label: string, shown: (part: TokenPatch) => string) => ({
    label,
    before: shown(undo),
    after: shown(patch),
  });
  return [
    ...(hasAnyMember("status") ? [member(t("status"), status)] : []),
    ...(hasAnyMember("group") ? [member(t("group"), group)] : []),
    ...(hasAnyMember("expired_time") ? [member(t("expiry"), expiry)] : []),
    ...(hasAnyMember("model_limits_enabled", "model_limits") ? [member(t("models"), models)] : []),
  ];
}
