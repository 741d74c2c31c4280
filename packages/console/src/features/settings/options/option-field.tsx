import { isSecretOption, OPTIONS, type OptionKey, type OptionKind } from "@fairway/wire";
import { Button } from "@chakra-ui/react";
import { AreaField, SecretField, SelectField, SwitchField, TextField } from "../../../ui/form/field.tsx";
import { Icon } from "../../../ui/display/icon.tsx";
import { IconButton } from "../../../ui/display/icon-button.tsx";
import { useTexts } from "../texts.ts";

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
  /** A secret that is emptied when the card is saved. */
  readonly isEmptied: boolean;
  onChange(value: string): void;
  /** Marks a secret to be emptied, or takes that back. */
  onEmpty(isEmptied: boolean): void;
  /** Shows what the option was before. */
  onHistory(): void;
}

/** Never shows what is stored: an empty input leaves it, a press of the button empties it. */
function SecretOption(props: OptionFieldProps) {
  const t = useTexts();
  const { name, isEmptied } = props;
  return (
    <SecretField
      label={name}
      help={OPTIONS[name].about}
      error={props.error}
      value={props.value}
      onChange={props.onChange}
      placeholder={t(isEmptied ? "secretEmptied" : "secretHint")}
      isMono
      aside={
        <Button
          size="xs"
          variant="ghost"
          aria-label={`${t(isEmptied ? "keepSecret" : "emptySecret")}: ${name}`}
          onClick={() => props.onEmpty(!isEmptied)}
        >
          {t(isEmptied ? "keepSecret" : "emptySecret")}
        </Button>
      }
    />
  );
}

/** The input that suits the kind of the option; its name is the one that documents and the command line use. */
export function OptionField(props: OptionFieldProps) {
  const t = useTexts();
  const { type, about } = OPTIONS[props.name];
  if (isSecretOption(props.name)) return <SecretOption {...props} />;
  const aside = (
    <IconButton size="2xs" color="fg.muted" label={t("historyOf", { name: props.name })} onClick={props.onHistory}>
      <Icon name="clock" size={14} />
    </IconButton>
  );
  const common = {
    label: props.name,
    help: about,
    error: props.error,
    value: props.value,
    onChange: props.onChange,
    aside,
  };
  if (type.kind === "flag") {
    return (
      <SwitchField
        label={props.name}
        help={about}
        aside={aside}
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
