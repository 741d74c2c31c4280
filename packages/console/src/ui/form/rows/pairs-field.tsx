import { Button, Flex, Text } from "@chakra-ui/react";
import { useState, type ReactNode } from "react";
import { EditorChoice, type EditorView } from "./editor-choice.tsx";
import { GroupFrame } from "./group-frame.tsx";
import { JsonField } from "../json/json-field.tsx";
import { pairFaults, pairRows, pairText } from "./pairs.ts";
import { RowsField, useFieldRows, type FieldRow } from "./rows-field.tsx";
import { useTexts } from "../../texts.ts";

interface PairsFieldProps {
  readonly label: string;
  readonly help?: ReactNode;
  readonly error?: string | undefined;
  /** JSON of an object of texts; "" = none. */
  readonly value: string;
  onChange(value: string): void;
  /** The defaults for names without a row. */
  readonly defaults?: readonly FieldRow[];
  /** Labels of the two columns, and the placeholders of their empty cells. */
  readonly from: { readonly label: string; readonly placeholder: string };
  readonly to: { readonly label: string; readonly placeholder: string };
  readonly addLabel: string;
  /** Common rows: a click adds those whose name does not exist yet. */
  readonly templates: readonly { readonly label: string; readonly rows: readonly FieldRow[] }[];
}

/** The help, and the defaults for names without a row. */
function Help(props: { readonly help: ReactNode; readonly defaults: readonly FieldRow[] }) {
  const t = useTexts();
  const { help, defaults } = props;
  if (defaults.length === 0) return help;
  return (
    <>
      {help} {t("withoutRow")}{" "}
      <Text as="span" fontFamily="mono">
        {defaults.map(({ from, to }) => `${from} → ${to}`).join(", ")}
      </Text>
    </>
  );
}

/** An object as a table of pairs, or as JSON; any other value is JSON only. */
export function PairsField(props: PairsFieldProps) {
  const [wanted, setWanted] = useState<EditorView>("table");
  const { rows, change } = useFieldRows({
    text: props.value,
    parse: pairRows,
    print: pairText,
    onChange: props.onChange,
  });
  const view = rows ? wanted : "json";
  const choice = <EditorChoice label={props.label} view={view} onChange={setWanted} />;
  const names = new Set(rows?.map(({ from }) => from?.trim()));
  const defaults = (props.defaults ?? []).filter(({ from }) => !names.has(from));
  const help = <Help help={props.help} defaults={defaults} />;
  const frame = { label: props.label, help, error: props.error, aside: choice };
  if (view === "json" || !rows) return <JsonField {...frame} value={props.value} onChange={props.onChange} />;
  const templates = props.templates
    .map(({ label, rows: all }) => ({ label, missing: all.filter(({ from }) => !names.has(from)) }))
    .filter(({ missing }) => missing.length > 0);
  return (
    <GroupFrame {...frame}>
      <RowsField
        label={props.label}
        columns={[
          { id: "from", ...props.from },
          { id: "to", ...props.to },
        ]}
        rows={rows}
        onChange={change}
        addLabel={props.addLabel}
        findFaults={pairFaults(rows)}
      />
      {templates.length > 0 && (
        <Flex gap="2" mt="2" wrap="wrap">
          {templates.map(({ label, missing }) => (
            <Button key={label} size="xs" variant="ghost" onClick={() => change([...rows, ...missing])}>
              {label}
            </Button>
          ))}
        </Flex>
      )}
    </GroupFrame>
  );
}
