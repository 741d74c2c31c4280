import { isSecretOption, OPTIONS, type OptionKey, type OptionKind } from "@fairway/wire";
import { Box, Button, Flex } from "@chakra-ui/react";
import { useState, type ReactNode } from "react";
import { EditorChoice, type EditorView } from "../../../ui/form/rows/editor-choice.tsx";
import { AreaField, SecretField, SelectField, SwitchField, TextField } from "../../../ui/form/field.tsx";
import { GroupFrame } from "../../../ui/form/rows/group-frame.tsx";
import { JsonField } from "../../../ui/form/json/json-field.tsx";
import { Icon } from "../../../ui/display/icon.tsx";
import { IconButton } from "../../../ui/display/icon-button.tsx";
import { useTexts } from "../texts.ts";
import { hasTable, isTable, TableEditor } from "./editors/table-editor.tsx";
import { FallbackEditor } from "./fallbacks/fallback-editor.tsx";
import { isFallbackOption, parseLists, type FallbackOption } from "./fallbacks/fallback-lists.ts";
import { useOptionWords } from "./words.ts";

const ROWS: Partial<Record<OptionKind, number>> = { "long-text": 6, lines: 6, "comma-list": 3 };
const JSON_KINDS: ReadonlySet<OptionKind> = new Set(["ratios", "labels", "json"]);

const NUMBERS: ReadonlySet<OptionKind> = new Set(["integer", "number"]);

interface OptionFieldProps {
  readonly name: OptionKey;
  readonly value: string;
  readonly error: string | undefined;
  /** A secret that saving the section will clear. */
  readonly isEmptied: boolean;
  onChange(value: string): void;
  /** Marks a secret to be cleared, or removes the mark. */
  onEmpty(isEmptied: boolean): void;
  /** Shows earlier values of the option. */
  onHistory(): void;
}

/** The description of the option, and its name in documents and the CLI. */
function Help({ name }: { readonly name: OptionKey }): ReactNode {
  const { about } = useOptionWords();
  return (
    <>
      {about(name)}{" "}
      <Box as="code" fontFamily="mono" color="fg.muted" textStyle="xs" overflowWrap="anywhere">
        {name}
      </Box>
    </>
  );
}

/** Never shows the stored value: an empty input leaves it unchanged, and the button clears it. */
function SecretOption(props: OptionFieldProps) {
  const t = useTexts();
  const { label } = useOptionWords();
  const { name, isEmptied } = props;
  return (
    <SecretField
      label={label(name)}
      name={name}
      help={<Help name={name} />}
      error={props.error}
      value={props.value}
      onChange={props.onChange}
      placeholder={t(isEmptied ? "secretEmptied" : "secretHint")}
      isMono
      aside={
        <Button
          size="xs"
          variant="ghost"
          aria-label={`${t(isEmptied ? "keepSecret" : "emptySecret")}: ${label(name)}`}
          onClick={() => props.onEmpty(!isEmptied)}
        >
          {t(isEmptied ? "keepSecret" : "emptySecret")}
        </Button>
      }
    />
  );
}

/** An option that is edited as a table, or as JSON if its text is no table. */
function TableOption(
  props: OptionFieldProps & { readonly history: ReactNode; readonly canShow: boolean; readonly children: ReactNode },
) {
  const { label } = useOptionWords();
  const [wanted, setWanted] = useState<EditorView>("table");
  const { name, value, onChange, error } = props;
  const view = props.canShow ? wanted : "json";
  const aside = (
    <Flex align="center" gap="1">
      <EditorChoice label={label(name)} view={view} onChange={setWanted} />
      {props.history}
    </Flex>
  );
  const frame = { label: label(name), help: <Help name={name} />, error, aside };
  if (view === "json") return <JsonField {...frame} value={value} onChange={onChange} />;
  return <GroupFrame {...frame}>{props.children}</GroupFrame>;
}

function FallbackLists(props: OptionFieldProps & { readonly name: FallbackOption; readonly history: ReactNode }) {
  const { name, value, onChange } = props;
  return (
    <TableOption {...props} canShow={parseLists(name, value) !== undefined}>
      <FallbackEditor name={name} value={value} onChange={onChange} />
    </TableOption>
  );
}

/** The anchor of an option. */
function Anchored(props: { readonly name: OptionKey; readonly children: ReactNode }) {
  return (
    <Box id={`option-${props.name}`} scrollMarginTop="72px">
      {props.children}
    </Box>
  );
}

export function OptionField(props: OptionFieldProps) {
  return (
    <Anchored name={props.name}>
      <Editor {...props} />
    </Anchored>
  );
}

/** The input that fits the type of the option. */
function Editor(props: OptionFieldProps) {
  const t = useTexts();
  const { label } = useOptionWords();
  const { name, value, onChange, error } = props;
  const { type } = OPTIONS[name];
  if (isSecretOption(name)) return <SecretOption {...props} />;
  const history = (
    <IconButton size="2xs" color="fg.muted" label={t("historyOf", { name: label(name) })} onClick={props.onHistory}>
      <Icon name="clock" size={14} />
    </IconButton>
  );
  if (isFallbackOption(name)) return <FallbackLists {...props} name={name} history={history} />;
  if (hasTable(name)) {
    return (
      <TableOption {...props} history={history} canShow={isTable(name, value, t) || error !== undefined}>
        <TableEditor name={name} label={label(name)} value={value} onChange={onChange} />
      </TableOption>
    );
  }
  const help = <Help name={name} />;
  const common = { label: label(name), name, help, error, value, onChange, aside: history };
  if (type.kind === "flag") {
    return (
      <SwitchField
        label={label(name)}
        name={name}
        help={help}
        aside={history}
        isOn={value === "true"}
        onChange={(isOn) => onChange(String(isOn))}
      />
    );
  }
  if (JSON_KINDS.has(type.kind)) return <JsonField {...common} />;
  if (type.choices) {
    return (
      <SelectField {...common} choices={type.choices.map((choice) => ({ value: choice, label: choice || "–" }))} />
    );
  }
  const rows = ROWS[type.kind];
  if (NUMBERS.has(type.kind)) {
    return (
      <Box maxW="320px">
        <TextField {...common} inputMode="decimal" />
      </Box>
    );
  }
  return rows === undefined ? <TextField {...common} /> : <AreaField {...common} rows={rows} isMono />;
}
