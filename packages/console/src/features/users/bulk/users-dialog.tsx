import { ROLE, USER_STATUS, type User } from "@fairway/wire";
import { Box, SimpleGrid } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState, type ReactNode } from "react";
import { formatCount } from "../../../lib/format.ts";
import { wrongLimits } from "../../../lib/limits.ts";
import { useLanguage } from "../../../lib/i18n.ts";
import { getRole, useUser } from "../../../session/session.ts";
import { ChangeDialog, type ShownChange } from "../../../ui/bulk/change-dialog.tsx";
import type { Plan } from "../../../ui/bulk/plan.ts";
import { Money, useQuotaDisplay } from "../../../ui/display/money.tsx";
import { SelectField, TextField } from "../../../ui/form/field.tsx";
import { LimitsFields } from "../../../ui/form/limits-fields.tsx";
import { useLimitsLine } from "../../../ui/form/limits-line.ts";
import { groupsQuery } from "../../../session/groups.ts";
import { roleText } from "../columns.tsx";
import { useTexts } from "../texts.ts";
import { signedQuota } from "../user-form.ts";
import { parseLimits, NO_CHANGE, buildPlan, type UserChange, type UserPatch, type UsersDraft } from "./plan.ts";

interface UsersDialogProps {
  /** The users that this administrator may change. */
  readonly users: readonly User[];
  /** How many were chosen. */
  readonly total: number;
  onApply(plan: Plan<User, UserPatch>): void;
  onClose(): void;
}

/** Changes many users at once, after a preview of each one's changes. */
export function UsersDialog({ users, total, onApply, onClose }: UsersDialogProps) {
  const t = useTexts();
  const language = useLanguage();
  const { quotaPerUnit, inCurrency } = useQuotaDisplay();
  const [draft, setDraft] = useState(NO_CHANGE);
  const [isChecked, setChecked] = useState(false);
  const added = signedQuota(draft.add, inCurrency ? quotaPerUnit : 1);
  const wrong = draft.limitsMode === "set" ? wrongLimits(draft) : [];
  const isGood = added !== undefined && wrong.length === 0;
  const plan = useMemo(
    () => (added === undefined || !isGood ? [] : buildPlan({ draft, added }, users)),
    [draft, added, isGood, users],
  );
  const line = useLimitsLine();
  const limitsText = (text: string) => line(parseLimits(text)) ?? t("asEverybody");
  const rest = formatCount(total - plan.length, language);
  return (
    <ChangeDialog
      title={t("changeManyTitle", { count: total })}
      plan={plan}
      toChosenRow={({ row }) => ({ id: row.id, name: row.username })}
      listShownChanges={(change) => listShownChanges(change, t, limitsText)}
      summary={(count) => t("previewCount", { count, rest })}
      isGood={isGood}
      onSubmit={() => {
        setChecked(true);
        if (plan.length > 0) onApply(plan);
      }}
      onClose={onClose}
    >
      <Fields
        draft={draft}
        addError={isChecked && added === undefined ? t("addQuotaInvalid") : undefined}
        wrong={isChecked ? wrong : []}
        set={(change) => setDraft((current) => ({ ...current, ...change }))}
      />
    </ChangeDialog>
  );
}

interface FieldsProps {
  readonly draft: UsersDraft;
  readonly addError: string | undefined;
  readonly wrong: ReturnType<typeof wrongLimits>;
  set(change: Partial<UsersDraft>): void;
}

function Fields({ draft, addError, wrong, set }: FieldsProps) {
  const t = useTexts();
  const isRoot = getRole(useUser()) >= ROLE.root;
  const groups = useQuery(groupsQuery).data ?? [];
  const unchanged = { value: "", label: t("leave") };
  return (
    <SimpleGrid columns={{ base: 1, sm: 2 }} gap="4">
      <SelectField
        label={t("status")}
        value={draft.status}
        choices={[unchanged, { value: "on", label: t("enable") }, { value: "off", label: t("disable") }]}
        onChange={(status) => set({ status: status as UsersDraft["status"] })}
      />
      <SelectField
        label={t("group")}
        value={draft.group}
        choices={[unchanged, ...groups.map((name) => ({ value: name, label: name }))]}
        onChange={(group) => set({ group })}
      />
      {isRoot && (
        <SelectField
          label={t("role")}
          value={draft.role}
          choices={[unchanged, { value: "user", label: t("role1") }, { value: "admin", label: t("role10") }]}
          onChange={(role) => set({ role: role as UsersDraft["role"] })}
        />
      )}
      <TextField
        label={t("addQuota")}
        help={t("addManyHelp")}
        inputMode="decimal"
        placeholder={t("leave")}
        value={draft.add}
        error={addError}
        onChange={(add) => set({ add })}
      />
      <SelectField
        label={t("sectionLimits")}
        value={draft.limitsMode}
        choices={[unchanged, { value: "set", label: t("limitsSet") }]}
        onChange={(mode) => set({ limitsMode: mode as UsersDraft["limitsMode"] })}
      />
      {draft.limitsMode === "set" && (
        <Box gridColumn="1 / -1">
          <LimitsFields
            values={draft}
            errors={Object.fromEntries(wrong.map((name) => [name, t("badLimit")]))}
            placeholder={t("asEverybody")}
            onChange={(name, value) => set({ [name]: value })}
            onBlur={() => undefined}
          />
        </Box>
      )}
    </SimpleGrid>
  );
}

const FIELD_TEXT = {
  status: "status",
  role: "role",
  group: "group",
  quota: "balance",
  limits: "sectionLimits",
} as const satisfies Record<keyof UserPatch, string>;

function listShownChanges(
  { patch, undo }: UserChange,
  t: ReturnType<typeof useTexts>,
  limitsText: (text: string) => string,
): ShownChange[] {
  const shown = (field: keyof UserPatch, value: string | number | undefined): ReactNode => {
    if (field === "status") return t(value === USER_STATUS.enabled ? "activated" : "banned");
    if (field === "role") return t(roleText(Number(value)));
    if (field === "limits") return limitsText(String(value));
    if (field === "quota") return <Money quota={Number(value)} />;
    return value;
  };
  return (Object.keys(patch) as (keyof UserPatch)[]).map((field) => ({
    label: t(FIELD_TEXT[field]),
    before: shown(field, undo[field]),
    after: shown(field, patch[field]),
  }));
}
