import { OPTIONS, type OptionKey } from "@fairway/wire";
import type { FieldRow } from "../../../../ui/form/rows/rows-field.tsx";
import { isObject, parseJson } from "../../../../lib/text/json.ts";

export const LIMITS = ["rpm", "tpm", "concurrency"] as const;

function parsed(text: string, empty: string): unknown {
  return parseJson(text === "" ? empty : text);
}

function joined(members: readonly string[]): string {
  return `{${members.join(",")}}`;
}

/** Returns names and decimal texts exactly as typed; undefined if the text is not such a table. */
export function ratioRows(key: OptionKey, text: string): FieldRow[] | undefined {
  const reading = OPTIONS[key].type.read(text === "" ? "{}" : text);
  if (!reading.isValid) return undefined;
  return Object.entries(reading.value as Readonly<Record<string, string>>).map(([name, value]) => ({ name, value }));
}

/** Unfinished rows without a name are left out; an invalid number produces a text that the option refuses. */
export function ratioText(rows: readonly FieldRow[]): string {
  const named = rows.filter(({ name }) => name?.trim());
  return joined(named.map(({ name = "", value = "" }) => `${JSON.stringify(name.trim())}:${value.trim()}`));
}

export function labelRows(text: string): FieldRow[] | undefined {
  const value = parsed(text, "{}");
  if (!isObject(value)) return undefined;
  return Object.entries(value).map(([name, label]) => ({ name, label: String(label) }));
}

export function labelText(rows: readonly FieldRow[]): string {
  const named = rows.filter(({ name }) => name?.trim());
  return joined(named.map(({ name = "", label = "" }) => `${JSON.stringify(name.trim())}:${JSON.stringify(label)}`));
}

/** Returns one object for each client, in the order of the menu. */
export function chatRows(text: string): FieldRow[] | undefined {
  const value = parsed(text, "[]");
  if (!Array.isArray(value) || !value.every(isObject)) return undefined;
  return value.flatMap((item) => Object.entries(item).map(([name, link]) => ({ name, link: String(link) })));
}

export function chatText(rows: readonly FieldRow[]): string {
  const named = rows.filter(({ name }) => name?.trim());
  return JSON.stringify(named.map(({ name = "", link = "" }) => ({ [name.trim()]: link.trim() })));
}

function printed(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "number" ? String(value) : JSON.stringify(value);
}

function limitCells(value: unknown): FieldRow {
  const limits = isObject(value) ? value : {};
  return Object.fromEntries(LIMITS.map((name) => [name, printed(limits[name])]));
}

function limitMembers(row: FieldRow): string {
  return joined(LIMITS.filter((name) => row[name]?.trim()).map((name) => `"${name}":${row[name]?.trim()}`));
}

export function limitRows(text: string): FieldRow[] | undefined {
  const value = parsed(text, "{}");
  if (!isObject(value)) return undefined;
  return Object.entries(value).map(([name, limits]) => ({ name, ...limitCells(limits) }));
}

export function limitText(rows: readonly FieldRow[]): string {
  const named = rows.filter(({ name }) => name?.trim());
  return joined(named.map((row) => `${JSON.stringify((row["name"] ?? "").trim())}:${limitMembers(row)}`));
}

/** Limits of every single user or token: one row without a name. */
export function ownLimitRows(text: string): FieldRow[] | undefined {
  const value = parsed(text, "{}");
  return isObject(value) ? [limitCells(value)] : undefined;
}

export function ownLimitText(rows: readonly FieldRow[]): string {
  return limitMembers(rows[0] ?? {});
}

export function nameRows(text: string): FieldRow[] | undefined {
  const value = parsed(text, "[]");
  return Array.isArray(value) ? value.map((name) => ({ name: String(name) })) : undefined;
}

export function nameText(rows: readonly FieldRow[]): string {
  return JSON.stringify(rows.map(({ name = "" }) => name.trim()).filter((name) => name !== ""));
}

const DECIMAL = /^(\d+(\.\d*)?|\.\d+)$/;

/** Returns the cells that cannot be saved: invalid numbers, and missing or duplicate names. */
export function rowFaults(rows: readonly FieldRow[], numbers: readonly string[], mayBeBlank: boolean) {
  const names = rows.map(({ name = "" }) => name.trim());
  return (row: FieldRow, index: number): string[] => {
    const isTwice = names[index] !== "" && names.indexOf(names[index] ?? "") !== index;
    const isNumber = (text: string) => (text === "" ? mayBeBlank : DECIMAL.test(text));
    const wrong = numbers.filter((id) => !isNumber((row[id] ?? "").trim()));
    const isNameless = row["name"] !== undefined && names[index] === "";
    return isTwice || isNameless ? ["name", ...wrong] : wrong;
  };
}
