import { Box, Button, Field, Flex, Input, NativeSelect, Switch, Textarea, type InputProps } from "@chakra-ui/react";
import { useId, useState, type ReactNode } from "react";
import { LAST_LOCAL_INPUT } from "../../lib/format.ts";
import { useTexts } from "../texts.ts";

interface FieldBase {
  readonly label: string;
  readonly help?: ReactNode;
  readonly error?: string | undefined;
  readonly isRequired?: boolean;
  readonly isDisabled?: boolean;
  /** Shown at the end of the label's line. */
  readonly aside?: ReactNode;
}

/** Label, control, help and error of one input, connected for assistive technology. */
export function FieldFrame(props: FieldBase & { readonly children: ReactNode }) {
  const t = useTexts();
  return (
    <Field.Root
      invalid={props.error !== undefined}
      disabled={props.isDisabled ?? false}
      required={props.isRequired ?? false}
    >
      <Flex width="full" align="center" gap="2">
        <Field.Label flex="1">
          {props.label}
          {props.isRequired && (
            <Box as="span" color="fg.muted" fontWeight="normal" textStyle="xs">
              {t("required")}
            </Box>
          )}
        </Field.Label>
        {props.aside}
      </Flex>
      {props.children}
      <Field.ErrorText>{props.error}</Field.ErrorText>
      {props.help !== undefined && <Field.HelperText>{props.help}</Field.HelperText>}
    </Field.Root>
  );
}

export interface Suggestion {
  readonly value: string;
  readonly label: string;
}

interface TextProps extends FieldBase {
  readonly value: string;
  onChange(value: string): void;
  onBlur?(): void;
  readonly placeholder?: string;
  readonly type?: InputProps["type"];
  readonly inputMode?: InputProps["inputMode"];
  readonly autoComplete?: string;
  readonly isMono?: boolean;
  readonly name?: string;
}

/** A text input; the browser shows the suggestions, and anything else may still be typed. */
export function TextField(props: TextProps & { readonly suggestions?: readonly Suggestion[] }) {
  const listId = useId();
  return (
    <FieldFrame {...props}>
      <Input
        value={props.value}
        onChange={(event) => props.onChange(event.target.value)}
        onBlur={() => props.onBlur?.()}
        placeholder={props.placeholder ?? ""}
        type={props.type ?? "text"}
        autoComplete={props.autoComplete ?? "off"}
        inputMode={props.inputMode}
        fontFamily={props.isMono ? "mono" : "body"}
        {...(props.isMono ? {} : { dir: "auto" })}
        {...(props.name === undefined ? {} : { name: props.name })}
        {...(props.type === "datetime-local" ? { max: LAST_LOCAL_INPUT } : {})}
        {...(props.suggestions === undefined ? {} : { list: listId })}
      />
      {props.suggestions !== undefined && (
        <datalist id={listId}>
          {props.suggestions.map(({ value, label }) => (
            <option key={value} value={value} {...(label === "" ? {} : { label })} />
          ))}
        </datalist>
      )}
    </FieldFrame>
  );
}

/** A password or key; the user can reveal what was just typed, but a stored value is never shown. */
export function SecretField(props: TextProps) {
  const t = useTexts();
  const [isShown, setShown] = useState(false);
  return (
    <FieldFrame {...props}>
      <Flex width="full" position="relative">
        <Input
          value={props.value}
          onChange={(event) => props.onChange(event.target.value)}
          onBlur={() => props.onBlur?.()}
          placeholder={props.placeholder ?? ""}
          type={isShown ? "text" : "password"}
          autoComplete={props.autoComplete ?? "off"}
          fontFamily={props.isMono ? "mono" : "body"}
          pe="16"
          {...(props.name === undefined ? {} : { name: props.name })}
        />
        <Button
          size="xs"
          variant="ghost"
          position="absolute"
          insetEnd="0.5"
          top="0.5"
          zIndex="1"
          aria-pressed={isShown}
          aria-label={`${isShown ? t("hide") : t("show")}: ${props.label}`}
          onClick={() => setShown(!isShown)}
        >
          {isShown ? t("hide") : t("show")}
        </Button>
      </Flex>
    </FieldFrame>
  );
}

export function AreaField(props: TextProps & { readonly rows?: number }) {
  return (
    <FieldFrame {...props}>
      <Textarea
        value={props.value}
        onChange={(event) => props.onChange(event.target.value)}
        onBlur={() => props.onBlur?.()}
        placeholder={props.placeholder ?? ""}
        rows={props.rows ?? 3}
        fontFamily={props.isMono ? "mono" : "body"}
        {...(props.isMono ? {} : { dir: "auto" })}
        {...(props.name === undefined ? {} : { name: props.name })}
        autoComplete="off"
        spellCheck={!props.isMono}
      />
    </FieldFrame>
  );
}

export interface Choice {
  readonly value: string;
  readonly label: string;
}

export function SelectField(
  props: FieldBase & {
    readonly value: string;
    readonly choices: readonly Choice[];
    readonly name?: string;
    onChange(value: string): void;
  },
) {
  return (
    <FieldFrame {...props}>
      <NativeSelect.Root size="sm" disabled={props.isDisabled ?? false}>
        <NativeSelect.Field
          {...(props.name === undefined ? {} : { name: props.name })}
          value={props.value}
          onChange={(event) => props.onChange(event.target.value)}
        >
          {props.choices.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {choice.label}
            </option>
          ))}
        </NativeSelect.Field>
        <NativeSelect.Indicator />
      </NativeSelect.Root>
    </FieldFrame>
  );
}

export function SwitchField(
  props: FieldBase & { readonly isOn: boolean; readonly name?: string; onChange(isOn: boolean): void },
) {
  return (
    <Box>
      <Flex align="center" justify="space-between" gap="2">
        <Switch.Root
          {...(props.name === undefined ? {} : { name: props.name })}
          checked={props.isOn}
          onCheckedChange={(change) => props.onChange(change.checked)}
          disabled={props.isDisabled ?? false}
        >
          <Switch.HiddenInput />
          <Switch.Control>
            <Switch.Thumb />
          </Switch.Control>
          <Switch.Label>{props.label}</Switch.Label>
        </Switch.Root>
        {props.aside}
      </Flex>
      {props.help !== undefined && (
        <Box textStyle="xs" color="fg.muted" mt="1">
          {props.help}
        </Box>
      )}
    </Box>
  );
}

/** A row of quick values under an input. */
export function Presets(props: {
  readonly label: string;
  readonly items: readonly { label: string; run(): void }[];
  readonly isDisabled?: boolean;
}) {
  return (
    <Flex role="group" aria-label={props.label} gap="1.5" wrap="wrap" mt="1.5">
      {props.items.map((item) => (
        <Button
          key={item.label}
          size="xs"
          variant="outline"
          disabled={props.isDisabled ?? false}
          onClick={() => item.run()}
        >
          {item.label}
        </Button>
      ))}
    </Flex>
  );
}
