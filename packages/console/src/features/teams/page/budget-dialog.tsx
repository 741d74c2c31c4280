import { ANY_VALUE, BUDGET_PERIODS, TEAM_BUDGET_SCOPES, type Budget } from "@fairway/wire";
import { Stack } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useForm } from "../../../lib/use-form.ts";
import { toast, toastProblem } from "../../../ui/feedback/toaster.ts";
import { SelectField, SwitchField, TextField } from "../../../ui/form/field.tsx";
import { FormDialog } from "../../../ui/form/form-dialog.tsx";
import { MoneyField } from "../../../ui/form/money-field.tsx";
import { useTexts } from "../texts.ts";
import { createBudget, updateBudget } from "./budgets-api.ts";
import { keysQuery } from "./keys-api.ts";
import { membersQuery } from "./members-api.ts";
import type { PartProps } from "./part.ts";
import { serviceAccountsQuery } from "./service-accounts-api.ts";

type Scope = (typeof TEAM_BUDGET_SCOPES)[number];

interface BudgetDraft {
  readonly scope: Scope;
  /** Id of a member, service account or key; a tag or the name of an end user. */
  readonly subject: string;
  readonly period: Budget["period"];
  readonly hours: string;
  readonly model: string;
  /** Quota units; undefined while the text is not an amount. */
  readonly limit: number | undefined;
  readonly isHard: boolean;
}

const SCOPE_TEXT = {
  team: "scopeTeam",
  member: "member",
  service_account: "scopeService",
  token: "scopeKey",
  tag: "scopeTag",
  end_user: "scopeEndUser",
} as const satisfies Readonly<Record<Scope, string>>;

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

/** Scopes whose subject is written, because the gateway has no list of them. */
const WRITTEN: ReadonlySet<Scope> = new Set(["tag", "end_user"]);
const TAG = /^[a-z][a-z0-9_.-]{0,31}=[^|=]+$/;
const MOST_HOURS = 720;
const MOST_SUBJECTS = 100;
const NEW: BudgetDraft = {
  scope: "member",
  subject: "",
  period: "month",
  hours: "5",
  model: "",
  limit: undefined,
  isHard: true,
};

interface BudgetDialogProps extends Pick<PartProps, "team"> {
  /** The budget that is changed; absent for a new one. */
  readonly edited?: Budget | undefined;
  onClose(): void;
}

/** Makes a budget inside a team, or changes its limit. */
export function BudgetDialog({ team, edited, onClose }: BudgetDialogProps) {
  const t = useTexts();
  const form = useForm<BudgetDraft>({
    initial: edited ? { ...NEW, limit: edited.quota_limit, isHard: edited.is_hard } : NEW,
    check: ({ scope, subject, period, hours, limit }) => ({
      ...((limit ?? 0) <= 0 && { limit: t("badAmount") }),
      ...(!edited && scope !== "team" && subject.trim() === "" && { subject: t("choose") }),
      ...(!edited && scope === "tag" && !TAG.test(subject.trim()) && { subject: t("badTag") }),
      ...(!edited && period === "hours" && !isLength(hours) && { hours: t("badHours") }),
    }),
    save: async ({ scope, subject, period, hours, model, limit = 0, isHard }) => {
      const terms = { quota_limit: limit, is_hard: isHard };
      const windows = { period, ...(period === "hours" && { length: Number(hours) }), filter_model: model.trim() };
      const named = scope === "team" ? {} : { subject: subject.trim() };
      if (edited) await updateBudget(team.id, edited.id, terms);
      else await createBudget(team.id, { scope, ...named, ...windows, ...terms });
      toast("success", t("budgetSaved"));
      onClose();
    },
    onProblem: toastProblem,
  });
  const { values, errors, set } = form;
  return (
    <FormDialog
      title={t(edited ? "editBudget" : "addBudget")}
      submitLabel={t(edited ? "save" : "create")}
      isSaving={form.isSaving}
      onSubmit={() => void form.submit()}
      onClose={onClose}
    >
      <Stack gap="4">
        {!edited && <Subject form={form} team={team} />}
        <MoneyField
          label={t("budgetLimit")}
          quota={values.limit}
          error={errors.limit}
          onChange={(limit) => set("limit", limit)}
        />
        {!edited && <Windows form={form} />}
        <SwitchField
          label={t("budgetHard")}
          help={t(values.isHard ? "budgetHardHelp" : "budgetSoftHelp")}
          isOn={values.isHard}
          onChange={(isOn) => set("isHard", isOn)}
        />
      </Stack>
    </FormDialog>
  );
}

function isLength(text: string): boolean {
  const hours = Number(text);
  return Number.isInteger(hours) && hours >= 1 && hours <= MOST_HOURS;
}

interface FormProps {
  readonly form: ReturnType<typeof useForm<BudgetDraft>>;
}

/** Whom or what it limits. */
function Subject({ form, team }: FormProps & Pick<PartProps, "team">) {
  const t = useTexts();
  const { values, errors, set } = form;
  const choices = useSubjects(team.id)[values.scope];
  return (
    <>
      <SelectField
        label={t("budgetOf")}
        value={values.scope}
        choices={TEAM_BUDGET_SCOPES.map((value) => ({ value, label: t(SCOPE_TEXT[value]) }))}
        onChange={(next) => {
          set("scope", TEAM_BUDGET_SCOPES.find((scope) => scope === next) ?? "team");
          set("subject", "");
        }}
      />
      {WRITTEN.has(values.scope) && (
        <TextField
          label={t(SCOPE_TEXT[values.scope])}
          help={t(values.scope === "tag" ? "tagHelp" : "endUserHelp")}
          {...form.input("subject")}
        />
      )}
      {values.scope !== "team" && !WRITTEN.has(values.scope) && (
        <SelectField
          label={t(SCOPE_TEXT[values.scope])}
          value={values.subject}
          error={errors.subject}
          choices={[{ value: "", label: t("choose") }, ...choices]}
          onChange={(subject) => set("subject", subject)}
        />
      )}
    </>
  );
}

function useSubjects(team: number): Readonly<Record<Scope, { readonly value: string; readonly label: string }[]>> {
  const t = useTexts();
  const members = useQuery(membersQuery(team)).data ?? [];
  const services = useQuery(serviceAccountsQuery(team)).data ?? [];
  const keys = useQuery(keysQuery(team, { page: 1, size: MOST_SUBJECTS, q: "" })).data?.rows ?? [];
  return {
    team: [],
    member: [
      { value: ANY_VALUE, label: t("eachMember") },
      ...members.map(({ user_id: id, username }) => ({ value: String(id), label: username })),
    ],
    service_account: services.map(({ id, name }) => ({ value: String(id), label: name })),
    token: keys.map(({ id, name }) => ({ value: String(id), label: `${name} #${id}` })),
    tag: [],
    end_user: [],
  };
}

function Windows({ form }: FormProps) {
  const t = useTexts();
  const { values, set } = form;
  return (
    <>
      <SelectField
        label={t("budgetPeriod")}
        value={values.period}
        choices={BUDGET_PERIODS.map((value) => ({ value, label: t(PERIOD_TEXT[value]) }))}
        help={t("budgetPeriodHelp")}
        onChange={(next) => set("period", BUDGET_PERIODS.find((period) => period === next) ?? "month")}
      />
      {values.period === "hours" && <TextField label={t("budgetHours")} inputMode="numeric" {...form.input("hours")} />}
      <TextField label={t("budgetModel")} help={t("modelHelp")} {...form.input("model")} />
    </>
  );
}
