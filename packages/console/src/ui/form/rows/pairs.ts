import { parseObject } from "../../../lib/text/json.ts";
import type { FieldRow } from "./rows-field.tsx";

/** Returns the rows of an object of texts and numbers; undefined for any other JSON, and for invalid JSON. */
export function pairRows(text: string): readonly FieldRow[] | undefined {
  if (text.trim() === "") return [];
  const entries = Object.entries(parseObject(text) ?? { "": null });
  const isFlat = entries.every(([, value]) => typeof value === "string" || typeof value === "number");
  return isFlat ? entries.map(([from, to]) => ({ from, to: String(to) })) : undefined;
}

/** Rows without a name are still being typed; of two rows with the same name the last one wins, as in JSON. */
export function pairText(rows: readonly FieldRow[]): string {
  const named = rows.flatMap(({ from = "", to = "" }) =>
    from.trim() === "" ? [] : [[from.trim(), to.trim()] as const],
  );
  return named.length === 0 ? "" : JSON.stringify(Object.fromEntries(named));
}

/** Returns the columns of a row that are empty, or that duplicate an earlier row. */
export function pairFaults(rows: readonly FieldRow[]) {
  return (row: FieldRow, index: number): readonly string[] => {
    const { from = "", to = "" } = row;
    const isTwice = rows.some((other, at) => at < index && other["from"]?.trim() === from.trim());
    if (from.trim() === "" && to.trim() === "") return [];
    return [...(from.trim() === "" || isTwice ? ["from"] : []), ...(to.trim() === "" ? ["to"] : [])];
  };
}
