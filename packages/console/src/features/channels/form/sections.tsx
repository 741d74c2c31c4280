import { CHANNEL_FIELDS, type Channel, type ChannelType } from "@fairway/wire";
import { SimpleGrid } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import type { Form } from "../../../lib/use-form.ts";
import { ChipsField } from "../../../ui/form/chips-field.tsx";
import { AreaField, SelectField, SwitchField, TextField } from "../../../ui/form/field.tsx";
import { FormSection } from "../../../ui/form/form-drawer.tsx";
import { groupsQuery } from "../../../session/groups.ts";
import { typesQuery } from "../api.ts";
import { usualModelsQuery } from "../form-api.ts";
import { countKeys, type ChannelDraft, type NumberFieldName } from "./channel-form.ts";
import { BatchFields } from "./batch-fields.tsx";
import { CacheFields } from "./cache-fields.tsx";
import { sectionAnchor } from "./section-index.tsx";
import { useTexts } from "../texts.ts";
import { PairsField } from "../../../ui/form/rows/pairs-field.tsx";

export interface SectionProps {
  readonly form: Form<ChannelDraft>;
  /** Undefined while a channel is created. */
  readonly channel: Channel | undefined;
}

export function useType(type: string): ChannelType | undefined {
  return useQuery(typesQuery).data?.find((entry) => String(entry.type) === type);
}

export function Provider({ form, channel }: SectionProps) {
  const t = useTexts();
  const { values, set, touch } = form;
  const types = useQuery(typesQuery).data ?? [];
  const usual = useQuery(usualModelsQuery).data ?? {};
  const choices = types
    .toSorted((a, b) => Number(a.retired) - Number(b.retired))
    .map(({ type, label, retired }) => ({
      value: String(type),
      label: retired ? t("typeEnded", { label }) : label,
    }));
  const findDefaultOther = (type: string) => types.find((entry) => String(entry.type) === type)?.other_default ?? "";
  const changeType = (type: string) => {
    const models = usual[type] ?? [];
    const isStillUsual = values.models.join() === (usual[values.type] ?? []).join();
    set("type", type);
    if (channel === undefined && [findDefaultOther(values.type), ""].includes(values.other))
      set("other", findDefaultOther(type));
    // The user's own choices stay; a list that came from the former type follows the new one.
    if (values.models.length === 0 || (channel === undefined && isStillUsual)) set("models", models);
  };
  return (
    <FormSection title={t("sectionProvider")} anchor={sectionAnchor("sectionProvider")}>
      <SelectField label={t("type")} value={values.type} choices={choices} onChange={changeType} />
      <TextField
        label={t("name")}
        isRequired
        placeholder={t("nameHint")}
        {...form.input("name")}
        onBlur={() => touch("name")}
      />
    </FormSection>
  );
}

/** Explains how the form changes the keys; empty if the form has none. */
function useKeysHelp({ form, channel }: SectionProps): string | undefined {
  const t = useTexts();
  const { key, keysAs, type } = form.values;
  const count = countKeys(key, useType(type)?.has_key_file);
  const had = channel?.key_count ?? 1;
  if (channel) return count > 0 && count + had > 2 ? t("keysReplace", { count, had }) : undefined;
  if (count < 2) return t("keyOnePerLine");
  return keysAs === "one" ? t("keysOneChannel", { count }) : t("keysFound", { count });
}

function useKeyPlaceholder({ channel }: SectionProps, hint: string): string {
  const t = useTexts();
  if (!channel) return hint;
  const { key_count: had = 1, key_hint: end } = channel;
  if (had > 1) return t("keysUnchanged", { count: had });
  return end ? t("keyUnchangedHint", { hint: end }) : t("keyUnchanged");
}

/** One key or many, one per line. */
function KeyField(props: SectionProps) {
  const t = useTexts();
  const { form, channel } = props;
  const { values, errors, set, touch } = form;
  const provider = useType(values.type);
  const hint = provider?.key_hint;
  const help = useKeysHelp(props) ?? hint;
  const placeholder = useKeyPlaceholder(props, hint ?? "");
  const count = countKeys(values.key, provider?.has_key_file);
  return (
    <>
      <AreaField
        label={t("key")}
        value={values.key}
        error={errors.key}
        isMono
        isRequired={channel === undefined}
        rows={Math.min(8, Math.max(2, count + 1))}
        placeholder={placeholder}
        help={help}
        onChange={(value) => set("key", value)}
        onBlur={() => touch("key")}
      />
      {channel === undefined && count > 1 && (
        <SelectField
          label={t("keysAs")}
          value={values.keysAs}
          choices={[
            { value: "channels", label: t("keysAsChannels") },
            { value: "one", label: t("keysAsOne") },
          ]}
          onChange={(value) => set("keysAs", value === "one" ? "one" : "channels")}
        />
      )}
    </>
  );
}

export function Connection({ form, channel }: SectionProps) {
  const t = useTexts();
  const { values, set } = form;
  const type = useType(values.type);
  return (
    <FormSection title={t("sectionConnection")} anchor={sectionAnchor("sectionConnection")}>
      <KeyField form={form} channel={channel} />
      <TextField
        label={t("baseUrl")}
        isMono
        isRequired={type?.needs_base_url ?? false}
        placeholder={type?.base_url ?? ""}
        help={type?.needs_base_url ? undefined : t("baseUrlHelp")}
        {...form.input("base_url")}
      />
      {(type?.other_hint || values.other !== "") && (
        <TextField label={t("other")} isMono help={type?.other_hint} {...form.input("other")} />
      )}
      {values.type === "1" && (
        <TextField
          label={t("organization")}
          isMono
          value={values.openai_organization}
          placeholder="org-…"
          onChange={(value) => set("openai_organization", value)}
        />
      )}
    </FormSection>
  );
}

interface NumberFieldProps extends Pick<SectionProps, "form"> {
  readonly name: NumberFieldName;
  readonly placeholder?: string;
}

/** A number whose texts the declaration of the field names. */
function NumberField({ form, name, placeholder }: NumberFieldProps) {
  const t = useTexts();
  const { label, help } = CHANNEL_FIELDS[name].form;
  return (
    <TextField
      label={t(label)}
      {...(placeholder !== undefined && { placeholder })}
      help={t(help)}
      {...form.input(name)}
      onBlur={() => form.touch(name)}
    />
  );
}

export function Routing({ form }: SectionProps) {
  const t = useTexts();
  const { values, errors, set } = form;
  const groups = useQuery(groupsQuery).data ?? [];
  const type = useType(values.type);
  return (
    <FormSection title={t("sectionRouting")} anchor={sectionAnchor("sectionRouting")}>
      <ChipsField
        label={t("groups")}
        values={values.group}
        suggestions={groups}
        placeholder={t("groupsHint")}
        duplicateText={t("groupsRepeated")}
        error={errors.group}
        onChange={(group) => set("group", group)}
      />
      <TextField label={t("tag")} help={t("tagHelp")} {...form.input("tag")} />
      <SimpleGrid columns={2} gap="4">
        <NumberField form={form} name="priority" />
        <NumberField form={form} name="weight" />
      </SimpleGrid>
      <NumberField form={form} name="max_input_tokens" placeholder={t("maxInputNone")} />
      <NumberField form={form} name="cost_ratio" />
      <CacheFields form={form} hasMarks={type?.takes_cache_marks === true} />
      <BatchFields form={form} takesBatches={type?.takes_batches === true} />
    </FormSection>
  );
}

/** Statuses that clients otherwise read as 502, because the channel's key is the operator's business. */
const PASSED_ON = ["401", "402", "403"].map((status) => ({ from: status, to: status }));
/** The gateway's defaults for statuses that no row names. */
const USUAL_STATUSES = PASSED_ON.map(({ from }) => ({ from, to: "502" }));
/** For clients that retry only after 503. */
const BUSY = [{ from: "429", to: "503" }];

export function Rewrites({ form }: SectionProps) {
  const t = useTexts();
  const { values, errors, set } = form;
  return (
    <FormSection title={t("sectionRewrites")} anchor={sectionAnchor("sectionRewrites")}>
      <PairsField
        label={t("mapping")}
        value={values.model_mapping}
        error={errors.model_mapping}
        help={t("mappingHelp")}
        from={{ label: t("mappingFrom"), placeholder: "gpt-4o" }}
        to={{ label: t("mappingTo"), placeholder: "gpt-4o-2024-11-20" }}
        addLabel={t("mappingAdd")}
        templates={[{ label: t("mappingAll"), rows: values.models.map((name) => ({ from: name, to: name })) }]}
        onChange={(value) => set("model_mapping", value)}
      />
      <PairsField
        label={t("statusMapping")}
        value={values.status_code_mapping}
        error={errors.status_code_mapping}
        help={t("statusMappingHelp")}
        from={{ label: t("statusFrom"), placeholder: "400" }}
        to={{ label: t("statusTo"), placeholder: "500" }}
        addLabel={t("statusAdd")}
        defaults={USUAL_STATUSES}
        templates={[
          { label: t("statusPassOn"), rows: PASSED_ON },
          { label: t("statusBusy"), rows: BUSY },
        ]}
        onChange={(value) => set("status_code_mapping", value)}
      />
    </FormSection>
  );
}

export function Health({ form }: SectionProps) {
  const t = useTexts();
  const { values, set } = form;
  return (
    <FormSection title={t("sectionHealth")} anchor={sectionAnchor("sectionHealth")}>
      <SwitchField label={t("autoBan")} isOn={values.auto_ban} onChange={(isOn) => set("auto_ban", isOn)} />
      <TextField
        label={t("testModel")}
        isMono
        value={values.test_model}
        placeholder={values.models[0] ?? ""}
        help={t("testModelHelp")}
        onChange={(value) => set("test_model", value)}
      />
    </FormSection>
  );
}
