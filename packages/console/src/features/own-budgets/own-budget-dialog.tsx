import { BUDGET_PERIODS, SELF_BUDGET_SCOPES, type Budget } from "@fairway/wire";
import { Stack } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useForm } from "../../lib/use-form.ts";
import { toast, toastProblem } from "../../ui/feedback/toaster.ts";
import { SelectField, SwitchField, TextField } from "../../ui/form/field.tsx";
import { FormDialog } from "../../ui/form/form-dialog.tsx";
import { MoneyField } from "../../ui/form/money-field.tsx";
import { createOwnBudget, ownTokensQuery, updateOwnBudget } from "./api.ts";
import { checkOwnBudget, NEW_BUDGET, toNewBudget, type OwnBudgetDraft, type OwnScope } from "./own-budget-form.ts";
import { useTexts } from "./texts.ts";

const SCOPE_TEXT = {
  token: "scopeToken",
  tag: "scopeTag",
  end_user: "scopeEndUser",
} as const satisfies Readonly<Record<OwnScope, string>>;

const PERIOD_TEXT = {
  hour: "periodHour",
  hours: "periodHours",
  day: "periodDay",
  week: "periodWeek",
  month: "periodMonth",
  quarter: "periodQuarter",
  year: "periodYear",
  total: "periodTotal",
} as const satisfies Readonly<Record<Budget["period"], string>>;

interface OwnBudgetDialogProps {
  /** The budget that is changed; absent for a new one. */
  readonly edited?: Budget | undefined;
  onClose(): void;
}

/** Makes a budget of the reader's own, or changes its limit. */
export function OwnBudgetDialog({ edited, onClose }: OwnBudgetDialogProps) {
  const t = useTexts();
  const form = useForm<OwnBudgetDraft>({
    initial: edited ? { ...NEW_BUDGET, limit: edited.quota_limit, isHard: edited.is_hard } : NEW_BUDGET,
    check: (draft) =>
      Object.fromEntries(
        Object.entries(checkOwnBudget(draft, edited === undefined)).map(([name, problem]) => [name, t(problem)]),
      ),
    save: async (draft) => {
      const { limit = 0, isHard } = draft;
      if (edited) await updateOwnBudget(edited.id, { quota_limit: limit, is_hard: isHard });
      else await createOwnBudget(toNewBudget(draft));
      toast("success", t("saved"));
      onClose();
    },
    onProblem: toastProblem,
  });
  const { values, errors, set } = form;
  return (
    <FormDialog
      title={t(edited ? "edit" : "add")}
      submitLabel={t(edited ? "save" : "create")}
      isSaving={form.isSaving}
      onSubmit={() => void form.submit()}
      onClose={onClose}
    >
      <Stack gap="4">
        {!edited && <Subject form={form} />}
        <MoneyField
          label={t("limit")}
          quota={values.limit}
          error={errors.limit}
          onChange={(limit) => set("limit", limit)}
        />
        {!edited && <Windows form={form} />}
        <SwitchField
          label={t("hard")}
          help={t(values.isHard ? "hardHelp" : "softHelp")}
          isOn={values.isHard}
          onChange={(isOn) => set("isHard", isOn)}
        />
      </Stack>
    </FormDialog>
  );
}

interface FormProps {
  readonly form: ReturnType<typeof useForm<OwnBudgetDraft>>;
}

/** What it limits. */
function Subject({ form }: FormProps) {
  const t = useTexts();
  const { values, errors, set } = form;
  const tokens = useQuery(ownTokensQuery).data ?? [];
  return (
    <>
      <SelectField
        label={t("of")}
        value={values.scope}
        choices={SELF_BUDGET_SCOPES.map((value) => ({ value, label: t(SCOPE_TEXT[value]) }))}
        onChange={(next) => {
          set("scope", SELF_BUDGET_SCOPES.find((scope) => scope === next) ?? "token");
          set("subject", "");
        }}
      />
      {values.scope === "token" ? (
        <SelectField
          label={t("scopeToken")}
          value={values.subject}
          error={errors.subject}
          choices={[
            { value: "", label: t("choose") },
            ...tokens.map(({ id, name }) => ({ value: String(id), label: `${name} #${id}` })),
          ]}
          onChange={(subject) => set("subject", subject)}
        />
      ) : (
        <TextField
          label={t(SCOPE_TEXT[values.scope])}
          help={t(values.scope === "tag" ? "tagHelp" : "endUserHelp")}
          {...form.input("subject")}
        />
      )}
    </>
  );
}

function Windows({ form }: FormProps) {
  const t = useTexts();
  const { values, set } = form;
  return (
    <>
      <SelectField
        label={t("period")}
        value={values.period}
        choices={BUDGET_PERIODS.map((value) => ({ value, label: t(PERIOD_TEXT[value]) }))}
        help={t("periodHelp")}
        onChange={(next) => set("period", BUDGET_PERIODS.find((period) => period === next) ?? "month")}
      />
      {values.period === "hours" && <TextField label={t("hours")} inputMode="numeric" {...form.input("hours")} />}
      <TextField label={t("model")} help={t("modelHelp")} {...form.input("model")} />
    </>
  );
}
