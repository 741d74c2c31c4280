import { OPTIONS, type OptionKey } from "@fairway/wire";
import { RowsField, useFieldRows, type FieldRow, type RowsColumn } from "../../../../ui/form/rows/rows-field.tsx";
import { useTexts } from "../../texts.ts";
import {
  chatRows,
  chatText,
  labelRows,
  labelText,
  LIMITS,
  limitRows,
  limitText,
  nameRows,
  nameText,
  ownLimitRows,
  ownLimitText,
  ratioRows,
  ratioText,
  rowFaults,
} from "./rows.ts";

interface Table {
  readonly columns: readonly RowsColumn[];
  /** Columns that hold numbers, to mark invalid ones. */
  readonly numbers: readonly string[];
  readonly mayBeBlank?: boolean;
  parse(text: string): FieldRow[] | undefined;
  print(rows: readonly FieldRow[]): string;
}

type Texts = ReturnType<typeof useTexts>;

/** The label of the names in a table. */
function nameLabel(key: OptionKey, t: Texts): string {
  if (/Group/.test(key)) return t("columnGroup");
  return key === "ToolPrice" || key === "ServiceTierRatio" ? t("columnName") : t("columnModel");
}

function limitColumns(t: Texts): RowsColumn[] {
  const labels = { rpm: t("columnRpm"), tpm: t("columnTpm"), concurrency: t("columnConcurrency") };
  return LIMITS.map((id) => ({ id, label: labels[id], kind: "number", placeholder: "∞" }));
}

/** Tables of amounts; the others hold multiples. */
const DOLLARS: ReadonlySet<OptionKey> = new Set([
  "ModelPrice",
  "ToolPrice",
  "CacheStoragePrices",
  "RealtimeSecondPrice",
]);

function ratioTable(key: OptionKey, t: Texts): Table {
  const value = DOLLARS.has(key) ? t("columnDollars") : t("columnValue");
  return {
    columns: [
      { id: "name", label: nameLabel(key, t), grow: 2 },
      { id: "value", label: value, kind: "number" },
    ],
    numbers: ["value"],
    parse: (text) => ratioRows(key, text),
    print: ratioText,
  };
}

/** Returns the table of an option; undefined for options without one. */
function findTable(key: OptionKey, t: Texts): Table | undefined {
  const { kind } = OPTIONS[key].type;
  if (kind === "ratios") return ratioTable(key, t);
  const name = { id: "name", label: nameLabel(key, t), grow: 2 };
  const limits = { numbers: LIMITS, mayBeBlank: true };
  switch (key) {
    case "UserUsableGroups":
      return {
        columns: [name, { id: "label", label: t("columnLabel"), grow: 2 }],
        numbers: [],
        parse: labelRows,
        print: labelText,
      };
    case "Chats":
      return {
        columns: [
          { id: "name", label: t("columnClient") },
          { id: "link", label: t("columnLink", { key: "{key}", address: "{address}" }), grow: 3 },
        ],
        numbers: [],
        parse: chatRows,
        print: chatText,
      };
    case "GroupLimits":
    case "ModelLimits":
      return { columns: [name, ...limitColumns(t)], ...limits, parse: limitRows, print: limitText };
    case "DefaultTokenLimits":
    case "DefaultUserLimits":
      return { columns: limitColumns(t), ...limits, parse: ownLimitRows, print: ownLimitText };
    case "AutoGroups":
      return { columns: [name], numbers: [], parse: nameRows, print: nameText };
    default:
      return undefined;
  }
}

export function hasTable(key: OptionKey): boolean {
  return OPTIONS[key].type.kind === "ratios" || TABLES.has(key);
}

const TABLES: ReadonlySet<OptionKey> = new Set([
  "UserUsableGroups",
  "Chats",
  "GroupLimits",
  "ModelLimits",
  "DefaultTokenLimits",
  "DefaultUserLimits",
  "AutoGroups",
] as const);

/** One fixed row: rows cannot be added or removed. */
const SINGLE: ReadonlySet<OptionKey> = new Set(["DefaultTokenLimits", "DefaultUserLimits"] as const);

/** Shows an option as a table; null if its text is not a table, and the JSON editor shows it. */
export function TableEditor(props: {
  readonly name: OptionKey;
  readonly label: string;
  readonly value: string;
  onChange(text: string): void;
}) {
  const t = useTexts();
  const table = findTable(props.name, t);
  const { rows, change } = useFieldRows({
    text: props.value,
    parse: (text) => table?.parse(text),
    print: (next) => table?.print(next) ?? "",
    onChange: props.onChange,
  });
  if (!table || !rows) return null;
  return (
    <RowsField
      label={props.label}
      columns={table.columns}
      rows={rows}
      isFixed={SINGLE.has(props.name)}
      onChange={change}
      addLabel={t("addRow")}
      findFaults={rowFaults(rows, table.numbers, table.mayBeBlank ?? false)}
    />
  );
}

/** Returns whether the text can be shown as a table. */
export function isTable(key: OptionKey, text: string, t: Texts): boolean {
  return findTable(key, t)?.parse(text) !== undefined;
}
