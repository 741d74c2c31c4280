import { AreaField, SecretField, SelectField, SwitchField, TextField } from "../../../ui/form/field.tsx";
import { FileInput } from "./file-input.tsx";
import type { ImportForm } from "./import-form.ts";
import { useTexts } from "./texts.ts";

/** As long as the gateway accepts. */
const MAX_CONFIG_BYTES = 8 * 1024 * 1024;

export interface FieldsProps {
  readonly form: ImportForm;
  onChange(more: Partial<ImportForm>): void;
  onFault(text: string): void;
}

/** A configuration of LiteLLM or Bifrost. */
export function ConfigFields({ form, onChange, onFault }: FieldsProps) {
  const t = useTexts();
  const read = (file: File) => {
    if (file.size > MAX_CONFIG_BYTES) return onFault(t("tooLong"));
    void file.text().then((config) => onChange({ config, name: file.name }));
  };
  return (
    <>
      <FileInput label={t("file")} accept=".yaml,.yml,.json,.txt" onFile={read} />
      <AreaField label={t("config")} isMono rows={6} value={form.config} onChange={(config) => onChange({ config })} />
      <AreaField
        label={t("variables")}
        help={t("variablesHelp")}
        isMono
        rows={2}
        value={form.variables}
        onChange={(variables) => onChange({ variables })}
      />
      <SwitchField
        label={t("fromUpstream")}
        isOn={form.isPricedByUpstream}
        onChange={(isPricedByUpstream) => onChange({ isPricedByUpstream })}
      />
      <TextField
        label={t("former")}
        help={t("formerHelp")}
        placeholder="https://litellm.example.com"
        value={form.former}
        onChange={(former) => onChange({ former })}
      />
    </>
  );
}

/** An export of the other gateway's database. */
export function DatabaseFields({ form, onChange }: FieldsProps) {
  const t = useTexts();
  return (
    <>
      <FileInput
        label={t("file")}
        help={t("databaseHelp")}
        accept=".db,.sqlite,.sqlite3,.sql,.dump,.gz"
        onFile={(file) => onChange({ file })}
      />
      <SelectField
        label={t("family")}
        help={t("familyHelp")}
        value={form.family}
        choices={[
          { value: "new-api", label: t("newApi") },
          { value: "one-api", label: t("oneApi") },
        ]}
        onChange={(family) => onChange({ family: family === "one-api" ? "one-api" : "new-api" })}
      />
      <SwitchField label={t("withLogs")} isOn={form.withLogs} onChange={(withLogs) => onChange({ withLogs })} />
    </>
  );
}

/** The address of a running gateway. */
export function ServerFields({ form, onChange }: FieldsProps) {
  const t = useTexts();
  const isLitellm = form.source === "litellm";
  return (
    <>
      <TextField
        label={t("address")}
        help={t("addressHelp")}
        placeholder="https://old.example.com"
        value={form.address}
        onChange={(address) => onChange({ address })}
      />
      <SecretField
        label={t(isLitellm ? "masterKey" : "accessToken")}
        help={t("tokenHelp")}
        isMono
        value={form.token}
        onChange={(token) => onChange({ token })}
      />
      {!isLitellm && (
        <TextField
          label={t("userId")}
          help={t("userIdHelp")}
          inputMode="numeric"
          value={form.userId}
          onChange={(userId) => onChange({ userId })}
        />
      )}
    </>
  );
}
