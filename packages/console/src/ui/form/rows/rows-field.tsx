import { Box, Button, Flex, Input, Text } from "@chakra-ui/react";
import { useRef, useState, type CSSProperties } from "react";
import { Icon } from "../../display/icon.tsx";
import { IconButton } from "../../display/icon-button.tsx";
import { useTexts } from "../../texts.ts";
import "./rows-field.css";

export interface RowsColumn {
  readonly id: string;
  readonly label: string;
  readonly kind?: "text" | "number" | "flag";
  readonly placeholder?: string;
  /** Share of the width; defaults to 1. */
  readonly grow?: number;
}

export type FieldRow = Readonly<Record<string, string>>;

interface RowsFieldProps {
  readonly label: string;
  readonly columns: readonly RowsColumn[];
  readonly rows: readonly FieldRow[];
  onChange(rows: readonly FieldRow[]): void;
  readonly addLabel: string;
  /** Rows cannot be added or removed. */
  readonly isFixed?: boolean;
  /** Returns the columns of a row that cannot be saved. */
  findFaults?(row: FieldRow, index: number): readonly string[];
}

/** How many rows are shown at first: tables of models have hundreds. */
const SHOWN = 10;
/** A phone shows rows with more columns as cards. */
const MAX_PHONE_COLUMNS = 2;

/**
 * Manages rows that the parent stores as text. An unfinished row, such as one without a name, stays while it is typed.
 */
export function useFieldRows(spec: {
  readonly text: string;
  parse(text: string): readonly FieldRow[] | undefined;
  print(rows: readonly FieldRow[]): string;
  onChange(text: string): void;
}) {
  const { text, parse, print, onChange } = spec;
  const [typed, setTyped] = useState<{ readonly rows: readonly FieldRow[]; readonly text: string }>();
  const rows = typed?.text === text ? typed.rows : parse(text);
  const change = (next: readonly FieldRow[]) => {
    const printed = print(next);
    setTyped({ rows: next, text: printed });
    onChange(printed);
  };
  return { rows, change };
}

function Cell(props: {
  readonly column: RowsColumn;
  readonly value: string;
  readonly name: string;
  readonly isFaulty: boolean;
  onChange(value: string): void;
}) {
  const { column, value, name, isFaulty, onChange } = props;
  if (column.kind === "flag") {
    return (
      <input
        type="checkbox"
        aria-label={name}
        checked={value === "true"}
        onChange={(event) => onChange(event.target.checked ? "true" : "")}
      />
    );
  }
  return (
    <Input
      size="sm"
      aria-label={name}
      aria-invalid={isFaulty}
      value={value}
      placeholder={column.placeholder ?? ""}
      inputMode={column.kind === "number" ? "decimal" : "text"}
      fontFamily="mono"
      autoComplete="off"
      spellCheck={false}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

/** A small table whose cells are edited in place. */
export function RowsField(props: RowsFieldProps) {
  const t = useTexts();
  const { columns, rows, onChange } = props;
  const box = useRef<HTMLDivElement>(null);
  const [find, setFind] = useState("");
  const [isWhole, setWhole] = useState(false);
  const wanted = find.trim().toLowerCase();
  const found = rows
    .map((row, index) => ({ row, index }))
    .filter(({ row }) => wanted === "" || Object.values(row).some((value) => value.toLowerCase().includes(wanted)));
  const shown = isWhole ? found : found.slice(0, SHOWN);
  const first = columns[0]?.id ?? "";
  const set = (index: number, id: string, value: string) =>
    onChange(rows.map((row, at) => (at === index ? { ...row, [id]: value } : row)));
  const add = () => {
    const row = Object.fromEntries(columns.map(({ id }) => [id, ""]));
    // A long table adds rows at its top, where they are visible.
    const isLong = rows.length >= SHOWN;
    setFind("");
    onChange(isLong ? [row, ...rows] : [...rows, row]);
    const place = isLong ? 0 : rows.length;
    requestAnimationFrame(() => box.current?.querySelector<HTMLElement>(`[data-row="${place}"] input`)?.focus());
  };
  const buildCellLabel = (column: RowsColumn, row: FieldRow, index: number) =>
    column.id === first && !isFixed
      ? `${column.label} ${index + 1}`
      : `${column.label}: ${isFixed ? props.label : row[first] || index + 1}`;
  const isFixed = props.isFixed ?? false;
  const template = { "--rows-tracks": `${columns.map(track).join(" ")}${isFixed ? "" : " 32px"}` } as CSSProperties;
  return (
    <Box ref={box}>
      {rows.length > SHOWN && (
        <Input
          size="sm"
          type="search"
          mb="2"
          maxW="72"
          aria-label={t("findRow")}
          placeholder={t("findRow")}
          value={find}
          onChange={(event) => setFind(event.target.value)}
        />
      )}
      {rows.length > 0 && (
        <div
          className={columns.length > MAX_PHONE_COLUMNS ? "rows-field is-wide" : "rows-field"}
          role="table"
          aria-label={props.label}
          style={template}
        >
          <div className="rows-head" role="row">
            {columns.map((column) => (
              <span key={column.id} role="columnheader">
                {column.label}
              </span>
            ))}
            {!isFixed && <span role="columnheader" aria-label={t("actions")} />}
          </div>
          {shown.map(({ row, index }) => {
            const faults = props.findFaults?.(row, index) ?? [];
            return (
              <div key={index} className="rows-row" role="row" data-row={index}>
                {columns.map((column) => (
                  <span key={column.id} role="cell" data-label={column.label}>
                    <Cell
                      column={column}
                      value={row[column.id] ?? ""}
                      name={buildCellLabel(column, row, index)}
                      isFaulty={faults.includes(column.id)}
                      onChange={(value) => set(index, column.id, value)}
                    />
                  </span>
                ))}
                {!isFixed && (
                  <span role="cell" className="rows-remove">
                    <IconButton
                      size="xs"
                      label={t("removeItem", { name: row[first] || String(index + 1) })}
                      onClick={() => onChange(rows.filter((_row, at) => at !== index))}
                    >
                      <Icon name="close" size={14} />
                    </IconButton>
                  </span>
                )}
              </div>
            );
          })}
        </div>
      )}
      <Flex gap="3" mt="2" align="center" wrap="wrap">
        {!isFixed && (
          <Button size="xs" variant="outline" onClick={add}>
            <Icon name="plus" size={14} />
            {props.addLabel}
          </Button>
        )}
        {shown.length < found.length && (
          <Button size="xs" variant="ghost" onClick={() => setWhole(true)}>
            {t("moreItems", { count: found.length - shown.length })}
          </Button>
        )}
        {wanted !== "" && found.length === 0 && <Text textStyle="sm">{t("noMatch")}</Text>}
      </Flex>
    </Box>
  );
}

function track({ kind, grow }: RowsColumn): string {
  if (kind === "flag") return "72px";
  return `minmax(0, ${grow ?? 1}fr)`;
}
