import { EVENT_SEVERITIES, WEBHOOK_FORMATS, WEBHOOK_LANGUAGES, type Webhook } from "@fairway/wire";
import { useCallback, useMemo, useRef } from "react";
import { useNavigate } from "react-router";
import { currentLanguage, LANGUAGES } from "../../../lib/i18n.ts";
import { useForm, type Form } from "../../../lib/use-form.ts";
import { toast, toastProblem } from "../../../ui/feedback/toaster.ts";
import { SecretField, SelectField, SwitchField, TextField } from "../../../ui/form/field.tsx";
import { DrawerForm, DrawerShell, FormSection } from "../../../ui/form/form-drawer.tsx";
import { EditDrawer } from "../../../ui/form/resource-drawer.tsx";
import { useCloseTo } from "../../../ui/form/use-close-to.ts";
import type { Edited } from "../../../ui/form/use-edited.ts";
import { createEndpoint, editedEndpointQuery, updateEndpoint } from "../api.ts";
import type { Owner } from "../owner.ts";
import { SEVERITY_TEXT } from "../severity.tsx";
import { useTexts } from "../texts.ts";
import {
  checkEndpoint,
  findFormat,
  newEndpoint,
  toEndpointChange,
  toEndpointDraft,
  toNewEndpoint,
  type EndpointDraft,
} from "./endpoint-form.ts";
import { FORMAT_FIELDS } from "./formats.ts";
import { madeKey } from "./made-key.ts";
import { QuietFields } from "./quiet-fields.tsx";
import { TypesField } from "./types-field.tsx";

function readZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

export function AddEndpoint({ owner }: { readonly owner: Owner }) {
  const t = useTexts();
  const close = useCloseTo(owner.path);
  const initial = useMemo(() => newEndpoint(currentLanguage(), readZone()), []);
  return (
    <DrawerShell kind="create" title={t("add")} onClose={close}>
      <EndpointForm owner={owner} initial={initial} edited={undefined} />
    </DrawerShell>
  );
}

export function EditEndpoint({ owner }: { readonly owner: Owner }) {
  const t = useTexts();
  const query = useCallback((id: number) => editedEndpointQuery(owner, id), [owner]);
  return (
    <EditDrawer
      title={t("edit")}
      list={owner.path}
      query={query}
      toDraft={toDraft}
      form={(initial, edited) => <EndpointForm owner={owner} initial={initial} edited={edited} />}
    />
  );
}

function toDraft(endpoint: Webhook): EndpointDraft {
  return toEndpointDraft(endpoint, readZone());
}

interface FormProps {
  readonly owner: Owner;
  readonly initial: EndpointDraft;
  readonly edited: Edited<Webhook> | undefined;
}

function EndpointForm({ owner, initial, edited }: FormProps) {
  const t = useTexts();
  const navigate = useNavigate();
  const made = useRef<number>(undefined);
  const form = useForm<EndpointDraft>({
    initial,
    check: (draft) =>
      Object.fromEntries(
        Object.entries(checkEndpoint(draft, edited === undefined)).map(([name, key]) => [name, t(key)]),
      ),
    save: async (draft) => {
      if (edited) {
        await updateEndpoint(owner, edited.row.id, toEndpointChange(draft));
        toast("success", t("saved", { name: draft.name.trim() }));
        return;
      }
      const { id, signing_secret: key } = await createEndpoint(owner, toNewEndpoint(draft));
      made.current = id;
      if (key !== "") madeKey.write({ endpoint: `${owner.name} ${id}`, key });
    },
    onProblem: edited?.onProblem ?? toastProblem,
  });
  return (
    <DrawerForm
      form={form}
      list={owner.path}
      createLabel={edited === undefined ? t("create") : undefined}
      onSaved={() => made.current !== undefined && void navigate(`${owner.path}/${made.current}`)}
    >
      <Address form={form} host={edited?.row.host} />
      <Choice form={form} owner={owner} />
      <Timing form={form} />
    </DrawerForm>
  );
}

interface PartProps {
  readonly form: Form<EndpointDraft>;
}

/** Where messages go; a stored address shows its host only. */
function Address({ form, host }: PartProps & { readonly host: string | undefined }) {
  const t = useTexts();
  const { values, set } = form;
  const { help, example, hasSecret, hasChat } = FORMAT_FIELDS[values.format];
  const isStored = host !== undefined;
  const stored = isStored ? t("unchanged") : "";
  return (
    <FormSection title={t("sectionAddress")}>
      <TextField label={t("name")} isRequired placeholder={t("nameHint")} {...form.input("name")} />
      <SelectField
        label={t("format")}
        value={values.format}
        isDisabled={isStored}
        choices={WEBHOOK_FORMATS.map((value) => ({ value, label: t(FORMAT_FIELDS[value].label) }))}
        onChange={(next) => set("format", findFormat(next) ?? "standard")}
      />
      <TextField
        label={t("url")}
        isMono
        isRequired={!isStored}
        help={isStored ? t("urlStored", { host }) : t(help)}
        placeholder={isStored ? stored : example}
        {...form.input("url")}
      />
      {hasSecret && (
        <SecretField label={t("secret")} isMono help={t("secretHelp")} placeholder={stored} {...form.input("secret")} />
      )}
      {hasChat && (
        <TextField
          label={t("chat")}
          isMono
          isRequired={!isStored}
          help={t("chatHelp")}
          placeholder={isStored ? stored : "-1001234567890"}
          {...form.input("chat_id")}
        />
      )}
      {values.format !== "standard" && (
        <SelectField
          label={t("language")}
          value={values.language}
          choices={WEBHOOK_LANGUAGES.map((value) => ({ value, label: LANGUAGES[value] }))}
          onChange={(next) => set("language", WEBHOOK_LANGUAGES.find((one) => one === next) ?? "en")}
        />
      )}
    </FormSection>
  );
}

/** Which events it gets. */
function Choice({ form, owner }: PartProps & { readonly owner: Owner }) {
  const t = useTexts();
  const { values, errors, set } = form;
  return (
    <FormSection title={t("sectionTypes")}>
      <SwitchField
        label={t("allTypes")}
        help={t("allTypesHelp")}
        isOn={values.hasAllTypes}
        onChange={(isOn) => set("hasAllTypes", isOn)}
      />
      {!values.hasAllTypes && (
        <TypesField
          values={values.types}
          error={errors.types}
          isOperator={owner.name === "operator"}
          onChange={(types) => set("types", types)}
        />
      )}
      <SelectField
        label={t("minSeverity")}
        value={values.min_severity}
        choices={EVENT_SEVERITIES.map((value) => ({ value, label: t(SEVERITY_TEXT[value]) }))}
        onChange={(next) => set("min_severity", EVENT_SEVERITIES.find((one) => one === next) ?? "info")}
      />
    </FormSection>
  );
}

function Timing({ form }: PartProps) {
  const t = useTexts();
  const { values, set } = form;
  return (
    <FormSection title={t("sectionTiming")}>
      {FORMAT_FIELDS[values.format].isText && (
        <TextField label={t("group")} help={t("groupHelp")} inputMode="numeric" {...form.input("group_seconds")} />
      )}
      <QuietFields form={form} />
      <SwitchField
        label={t("ordered")}
        help={t("orderedHelp")}
        isOn={values.ordered}
        onChange={(isOn) => set("ordered", isOn)}
      />
    </FormSection>
  );
}
