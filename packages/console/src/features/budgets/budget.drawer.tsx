import { BUDGET_PERIODS, budgetSubject, type Budget } from "@fairway/wire";
import { Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useMemo } from "react";
import { useSearchParams } from "react-router";
import { useForm } from "../../lib/use-form.ts";
import { Presets, SelectField, SwitchField, TextField } from "../../ui/form/field.tsx";
import { DrawerForm, DrawerShell, FormSection } from "../../ui/form/form-drawer.tsx";
import { MoneyField } from "../../ui/form/money-field.tsx";
import { toast, toastProblem } from "../../ui/feedback/toaster.ts";
import { PickField } from "../../ui/form/pick-field.tsx";
import type { Edited } from "../../ui/form/use-edited.ts";
import { EditDrawer } from "../../ui/form/resource-drawer.tsx";
import { useCloseTo } from "../../ui/form/use-close-to.ts";
import { budgetQuery, createBudget, suggestionsQuery, updateBudget } from "./api.ts";
import {
  toBudgetChange,
  checkBudget,
  toBudgetDraft,
  NAMED_SCOPES,
  newBudget,
  SCOPES,
  translateErrors,
  type BudgetDraft,
} from "./budget-form.ts";
import { describeAnchor, describeWindows, PERIOD_TEXT, SCOPE_TEXT } from "./columns.tsx";
import { useTexts } from "./texts.ts";

export function AddBudget() {
  const t = useTexts();
  const close = useCloseTo("/budget");
  const [search] = useSearchParams();
  const scope = SCOPES.find((name) => name === search.get("scope")) ?? "user";
  const subject = search.get("q") ?? "";
  const initial = useMemo(() => newBudget(scope, subject), [scope, subject]);
  return (
    <DrawerShell kind="create" title={t("add")} onClose={close}>
      <BudgetForm initial={initial} edited={undefined} />
    </DrawerShell>
  );
}

export function EditBudget() {
  const t = useTexts();
  return (
    <EditDrawer
      title={t("edit")}
      list="/budget"
      query={budgetQuery}
      toDraft={toBudgetDraft}
      form={(initial, edited) => <BudgetForm initial={initial} edited={edited} />}
    />
  );
}

function BudgetForm(props: { readonly initial: BudgetDraft; readonly edited: Edited<Budget> | undefined }) {
  const t = useTexts();
  const { edited, initial } = props;
  const isNew = edited === undefined;
  const form = useForm<BudgetDraft>({
    initial,
    check: (values) => translateErrors(checkBudget(values, isNew), t),
    save: async (values) => {
      const { scope, period } = values;
      const change = toBudgetChange(values);
      const [subject, filter] = [values.subject.trim(), values.filter_model.trim()];
      if (isNew) await createBudget({ ...change, scope, period, subject, filter_model: filter });
      else await updateBudget(edited, change);
      toast("success", t("saved"));
    },
    onProblem: edited?.onProblem ?? toastProblem,
  });
  const part = { form };
  return (
    <DrawerForm form={form} list="/budget" createLabel={isNew ? t("create") : undefined}>
      {edited ? <FixedSubject budget={edited.row} /> : <Subject {...part} />}
      <Amount {...part} />
      <Windows {...part} />
      <Effect {...part} />
    </DrawerForm>
  );
}

interface PartProps {
  readonly form: ReturnType<typeof useForm<BudgetDraft>>;
}

const NAME_HELP: Readonly<Partial<Record<Budget["scope"], "teamHelp" | "memberHelp" | "tagHelp" | "endUserHelp">>> = {
  team: "teamHelp",
  member: "memberHelp",
  tag: "tagHelp",
  end_user: "endUserHelp",
};

function Subject({ form }: PartProps) {
  const t = useTexts();
  const { values, errors, set, touch } = form;
  const typed = useDeferredValue(values.subject.trim());
  const suggestions = useQuery(suggestionsQuery(values.scope, typed)).data ?? [];
  const isNamed = NAMED_SCOPES.has(values.scope);
  const nameHelp = NAME_HELP[values.scope] ?? "subjectNameHelp";
  return (
    <FormSection title={t("sectionSubject")}>
      <SelectField
        label={t("scope")}
        value={values.scope}
        choices={SCOPES.map((value) => ({ value, label: t(SCOPE_TEXT[value]) }))}
        onChange={(next) => {
          set("scope", SCOPES.find((scope) => scope === next) ?? "user");
          set("subject", "");
        }}
      />
      <PickField
        label={t(SCOPE_TEXT[values.scope])}
        isRequired
        help={t(isNamed ? nameHelp : "subjectIdHelp")}
        value={values.subject}
        options={suggestions}
        error={errors.subject}
        onChange={(value) => set("subject", value)}
        onBlur={() => touch("subject")}
      />
      <SelectField
        label={t("period")}
        value={values.period}
        choices={BUDGET_PERIODS.map((value) => ({ value, label: t(PERIOD_TEXT[value]) }))}
        onChange={(next) => {
          set("period", BUDGET_PERIODS.find((period) => period === next) ?? "month");
          set("anchor", "");
        }}
      />
      <TextField
        label={t("model")}
        help={t("modelHelp")}
        isMono
        value={values.filter_model}
        error={errors.filter_model}
        onChange={(value) => set("filter_model", value)}
        onBlur={() => touch("filter_model")}
      />
    </FormSection>
  );
}

/** The subject of an existing budget never changes. */
function FixedSubject({ budget }: { readonly budget: Budget }) {
  const t = useTexts();
  return (
    <Text color="fg.muted">
      {t(SCOPE_TEXT[budget.scope])} <strong>{budgetSubject(budget)}</strong> · {describeWindows(t, budget)}
    </Text>
  );
}

function Amount({ form }: PartProps) {
  const t = useTexts();
  const { values, errors, set } = form;
  return (
    <FormSection title={t("sectionLimit")}>
      <MoneyField
        label={t("limit")}
        quota={values.quota_limit}
        error={errors.quota_limit}
        help={t("limitHelp")}
        onChange={(quota) => set("quota_limit", quota)}
      />
    </FormSection>
  );
}

/** When windows begin and end: every period has its own members. */
function Windows({ form }: PartProps) {
  const t = useTexts();
  const { period } = form.values;
  return (
    <FormSection title={t("sectionWindows")}>
      {period === "hours" && (
        <TextField label={t("hours")} help={t("hoursHelp")} inputMode="numeric" {...form.input("length")} />
      )}
      {period === "total" && (
        <TextField label={t("endsOn")} help={t("endsOnHelp")} type="datetime-local" {...form.input("ends")} />
      )}
      {period === "week" && <FirstWeekday form={form} />}
      {period === "month" && (
        <TextField label={t("firstDay")} help={t("firstDayHelp")} inputMode="numeric" {...form.input("anchor")} />
      )}
      {(period === "quarter" || period === "year") && (
        <TextField label={t("firstDate")} help={t("firstDateHelp")} placeholder="01-01" {...form.input("anchor")} />
      )}
      {period !== "hours" && period !== "total" && <Zone form={form} />}
    </FormSection>
  );
}

function FirstWeekday({ form: { values, set } }: PartProps) {
  const t = useTexts();
  const choices = ["1", "2", "3", "4", "5", "6", "7"].map((value) => ({ value, label: describeAnchor("week", value) }));
  return (
    <SelectField
      label={t("firstWeekday")}
      value={values.anchor === "" ? "1" : values.anchor}
      choices={choices}
      onChange={(next) => set("anchor", next === "1" ? "" : next)}
    />
  );
}

function Zone({ form }: PartProps) {
  const t = useTexts();
  const { values, errors, set, touch } = form;
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const zones = useMemo(() => Intl.supportedValuesOf("timeZone").map((value) => ({ value, label: "" })), []);
  return (
    <div>
      <TextField
        label={t("zone")}
        help={t("zoneHelp")}
        value={values.time_zone}
        suggestions={zones}
        error={errors.time_zone}
        onChange={(value) => set("time_zone", value)}
        onBlur={() => touch("time_zone")}
      />
      <Presets
        label={t("zonePresets")}
        items={[...new Set(["UTC", own])].map((zone) => ({ label: zone, run: () => set("time_zone", zone) }))}
      />
    </div>
  );
}

function Effect({ form }: PartProps) {
  const t = useTexts();
  const { values, set } = form;
  return (
    <FormSection title={t("sectionEffect")}>
      <SwitchField
        label={t("hard")}
        help={t(values.is_hard ? "hardHelp" : "softHelp")}
        isOn={values.is_hard}
        onChange={(isOn) => set("is_hard", isOn)}
      />
      <TextField label={t("percent")} help={t("percentHelp")} {...form.input("thresholds")} />
      <SwitchField
        label={t("forecastOn")}
        help={t("forecastHelp")}
        isOn={values.forecast}
        onChange={(isOn) => set("forecast", isOn)}
      />
    </FormSection>
  );
}
