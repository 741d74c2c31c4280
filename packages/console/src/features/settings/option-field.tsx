import { OPTIONS, type OptionKey, type OptionKind } from "@fairway/wire";
import { AreaField, SecretField, SelectField, SwitchField, TextField } from "../../ui/field.tsx";
import { isWriteOnly } from "./groups.ts";
import { useTexts } from "./texts.ts";

const ROWS: Partial<Record<OptionKind, number>> = {
  "long-text": 6,
  lines: 6,
  "comma-list": 3,
  ratios: 8,
  labels: 5,
  json: 6,
};

interface OptionFieldProps {
  readonly name: OptionKey;
  readonly value: string;
  readonly error: string | undefined;
  onChange(value: string): void;
}

/** The input that suits the kind of the option; its name is the one that documents and the command line use. */
export function OptionField(props: OptionFieldProps) {
  const t = useTexts();
  const { type, about } = OPTIONS[props.name];
  const common = { label: props.name, help: about, error: props.error, value: props.value, onChange: props.onChange };
  if (isWriteOnly(props.name)) return <SecretField {...common} placeholder={t("secretHint")} isMono />;
  if (type.kind === "flag") {
    return (
      <SwitchField
        label={props.name}
        help={about}
        isOn={props.value === "true"}
        onChange={(isOn) => props.onChange(String(isOn))}
      />
    );
  }
  if (type.choices) {
    return <SelectField {...common} choices={type.choices.map((value) => ({ value, label: value }))} />;
  }
  const rows = ROWS[type.kind];
  return rows === undefined ? <TextField {...common} /> : <AreaField {...common} rows={rows} isMono />;
}
