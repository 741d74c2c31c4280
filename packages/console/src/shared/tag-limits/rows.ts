import { ANY_VALUE, isLimitedValue, isTagKey, type Token } from "@fairway/wire";
import { parseObject } from "../../lib/text/json.ts";
import type { FieldRow } from "../../ui/form/rows/rows-field.tsx";

/** Limits by values of tags, as tokens, users and teams have them. */
export type TagLimits = Token["tag_limits"];

const NUMBERS = ["rpm", "tpm", "concurrency"] as const;

/** Returns the text of a form; "" for no limits. */
export function toTagLimitsText(limits: TagLimits): string {
  return Object.keys(limits).length === 0 ? "" : JSON.stringify(limits);
}

/** Returns the limits of a form that has no faults. */
export function toTagLimits(text: string): TagLimits {
  return (parseObject(text) ?? {}) as TagLimits;
}

/** True if the limits cannot be saved. */
export function hasWrongTagLimits(text: string): boolean {
  return (toTagLimitRows(text) ?? []).some((row) => findTagLimitFaults(row).length > 0);
}

type Values = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export function toTagLimitRows(text: string): readonly FieldRow[] | undefined {
  const keys = Object.entries(parseObject(text) ?? {}) as [string, Values][];
  return keys.flatMap(([key, values]) => Object.entries(values).map(([value, limit]) => toRow(key, value, limit)));
}

function toRow(key: string, value: string, limit: Readonly<Record<string, unknown>>): FieldRow {
  const number = (name: string) => (limit[name] === undefined ? "" : String(limit[name] as number | string));
  const numbers = Object.fromEntries(NUMBERS.map((name) => [name, number(name)]));
  return { key, value, ...numbers, blocked: limit["blocked"] === true ? "true" : "" };
}

/** Blank rows are still being typed. What is no number stays a text, so that it is shown as a fault. */
export function printTagLimitRows(rows: readonly FieldRow[]): string {
  const keys = new Map<string, Record<string, object>>();
  for (const { key = "", value = "", ...limit } of rows) {
    if (isBlank({ key, value, ...limit })) continue;
    const values = keys.get(key.trim()) ?? {};
    values[value.trim()] = toLimit(limit);
    keys.set(key.trim(), values);
  }
  return keys.size === 0 ? "" : JSON.stringify(Object.fromEntries(keys));
}

function toLimit(row: FieldRow): object {
  const numbers = NUMBERS.flatMap((name) => {
    const text = (row[name] ?? "").trim();
    return text === "" ? [] : [[name, isLimit(text) ? Number(text) : text] as const];
  });
  return { ...Object.fromEntries(numbers), ...(row["blocked"] === "true" && { blocked: true }) };
}

/** Returns the columns of a row that cannot be saved. */
export function findTagLimitFaults(row: FieldRow): readonly string[] {
  if (isBlank(row)) return [];
  const [key, value] = [(row["key"] ?? "").trim(), (row["value"] ?? "").trim()];
  const numbers = NUMBERS.filter((name) => {
    const text = (row[name] ?? "").trim();
    return text !== "" && !isLimit(text);
  });
  return [
    ...(isTagKey(key) ? [] : ["key"]),
    ...(value === ANY_VALUE || isLimitedValue(key, value) ? [] : ["value"]),
    ...numbers,
  ];
}

function isBlank(row: FieldRow): boolean {
  return Object.values(row).every((text) => text.trim() === "");
}

function isLimit(text: string): boolean {
  return /^\d+$/.test(text) && Number(text) >= 1 && Number.isSafeInteger(Number(text));
}
