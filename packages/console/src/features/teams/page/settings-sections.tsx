import { SimpleGrid, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { LIMIT_NAMES, type LimitsDraft } from "../../../lib/limits.ts";
import type { Form } from "../../../lib/use-form.ts";
import { modelsQuery } from "../../../session/models.ts";
import { ChipsField } from "../../../ui/form/chips-field.tsx";
import { SelectField, TextField } from "../../../ui/form/field.tsx";
import { FormSection } from "../../../ui/form/form-drawer.tsx";
import { LimitsFields } from "../../../ui/form/limits-fields.tsx";
import { useTexts } from "../texts.ts";
import type { PartProps } from "./part.ts";
import type { SettingsDraft } from "./settings-form.ts";

interface SectionProps extends PartProps {
  readonly form: Form<SettingsDraft>;
}

export function BasicsSection({ form, rights }: SectionProps) {
  const t = useTexts();
  return (
    <FormSection title={t("sectionTeam")}>
      <TextField label={t("name")} isDisabled={!rights.own} {...form.input("name")} />
      <TextField label={t("description")} isDisabled={!rights.manage} {...form.input("description")} />
      <TextField label={t("labels")} help={t("labelsHelp")} isDisabled={!rights.manage} {...form.input("labels")} />
    </FormSection>
  );
}

/** Who makes keys, who reads them, how many there are and what happens to them. */
export function KeysSection({ form, rights }: SectionProps) {
  const t = useTexts();
  const { values, set } = form;
  const isDisabled = !rights.manage;
  return (
    <FormSection title={t("keys")}>
      <SimpleGrid columns={{ base: 1, sm: 2 }} gap="4">
        <SelectField
          label={t("whoMakes")}
          isDisabled={isDisabled}
          value={values.who_makes_keys}
          choices={[
            { value: "members", label: t("whoMembers") },
            { value: "admins", label: t("whoAdmins") },
          ]}
          onChange={(who) => set("who_makes_keys", who === "admins" ? "admins" : "members")}
        />
        <SelectField
          label={t("whoReads")}
          isDisabled={isDisabled}
          value={values.keys_visible}
          choices={[
            { value: "maker", label: t("readsMaker") },
            { value: "admins", label: t("readsAdmins") },
          ]}
          onChange={(who) => set("keys_visible", who === "admins" ? "admins" : "maker")}
        />
        <TextField
          label={t("mostKeys")}
          inputMode="numeric"
          isDisabled={isDisabled}
          {...form.input("max_keys_per_member")}
        />
        <TextField
          label={t("mostDays")}
          help={t("mostDaysHelp")}
          inputMode="numeric"
          isDisabled={isDisabled}
          {...form.input("max_key_days")}
        />
      </SimpleGrid>
      <SelectField
        label={t("onLeave")}
        help={t(values.on_leave === "transfer" ? "leaveTransferHelp" : "leaveDisableHelp")}
        isDisabled={isDisabled}
        value={values.on_leave}
        choices={[
          { value: "disable", label: t("leaveDisable") },
          { value: "transfer", label: t("leaveTransfer") },
        ]}
        onChange={(next) => set("on_leave", next === "transfer" ? "transfer" : "disable")}
      />
    </FormSection>
  );
}

/** What keys may use. Admins of a team narrow it, and administrators of the installation widen it. */
export function AccessSection({ form, rights }: SectionProps) {
  const t = useTexts();
  const models = useQuery(modelsQuery).data ?? [];
  const { values, errors, set } = form;
  const isDisabled = !rights.manage;
  return (
    <FormSection title={t("sectionAccess")}>
      {!rights.isOperator && rights.manage && (
        <Text textStyle="sm" color="fg.muted">
          {t("narrowOnly")}
        </Text>
      )}
      <ChipsField
        label={t("models")}
        help={t("modelsHelp")}
        isDisabled={isDisabled}
        values={values.models}
        suggestions={models}
        duplicateText={t("repeated")}
        onChange={(next) => set("models", next)}
      />
      {rights.isOperator && <TextField label={t("walletGroup")} {...form.input("group")} />}
      <ChipsField
        label={t("groups")}
        help={t("groupsHelp")}
        isDisabled={isDisabled}
        values={values.groups}
        suggestions={[]}
        duplicateText={t("repeated")}
        onChange={(next) => set("groups", next)}
      />
      {rights.isOperator && (
        <ChipsField
          label={t("channels")}
          help={t("channelsHelp")}
          values={values.channels}
          suggestions={[]}
          duplicateText={t("repeated")}
          error={errors.channels}
          onChange={(next) => set("channels", next)}
        />
      )}
    </FormSection>
  );
}

/** Each row of limits has one error, because the form has one member for it. */
export function LimitsSection({ form, rights }: SectionProps) {
  const t = useTexts();
  return (
    <FormSection title={t("sectionLimits")}>
      <LimitRow form={form} name="limits" title={t("teamLimits")} isDisabled={!rights.manage} />
      <LimitRow form={form} name="member_limits" title={t("memberLimits")} isDisabled={!rights.manage} />
    </FormSection>
  );
}

interface LimitRowProps extends Pick<SectionProps, "form"> {
  readonly name: "limits" | "member_limits";
  readonly title: string;
  readonly isDisabled: boolean;
}

function LimitRow({ form: { values, errors, set }, name, title, isDisabled }: LimitRowProps) {
  const t = useTexts();
  const limits = values[name];
  const error = errors[name];
  const change = (member: keyof LimitsDraft, value: string) => set(name, { ...limits, [member]: value });
  return (
    <fieldset disabled={isDisabled}>
      <Text as="legend" textStyle="sm" fontWeight="medium" mb="2">
        {title}
      </Text>
      <LimitsFields
        values={limits}
        errors={Object.fromEntries(LIMIT_NAMES.filter((one) => limits[one] !== "").map((one) => [one, error]))}
        placeholder={t("noLimit")}
        onChange={change}
        onBlur={() => {}}
      />
    </fieldset>
  );
}
