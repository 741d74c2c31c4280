import { inChunks } from "../../lib/chunks.ts";
import type { Database } from "../../storage/database.ts";
import type { RawTransaction } from "../../storage/engines/raw.ts";
import { upsertSql } from "../../storage/inserts.ts";
import { rowsByKey } from "../../storage/keyed-rows.ts";
import { encodeCounts, withText, type FacetCounts } from "./facet-counts.ts";

/** A table that counts log rows, with the values of their facets as text. */
export interface CountTable {
  readonly table: "facet_sums" | "log_sums";
  readonly key: readonly string[];
  readonly texts: readonly string[];
  /** Maximum number of values of a facet: a text is read and written as a whole. */
  readonly maxValues: number;
}

export interface CountedSlot {
  /** Values of the key columns, in the order of the columns. */
  readonly key: readonly (string | number)[];
  rows: number;
  /** Undefined if facets are not counted. */
  readonly counts: FacetCounts | undefined;
}

const SLOTS_AT_ONCE = 100;

/** Returns the slot of a key; a new one counts facets if `counts` returns some. */
export function ensureSlot(
  slots: Map<string, CountedSlot>,
  key: readonly (string | number)[],
  counts: () => FacetCounts | undefined,
): CountedSlot {
  const name = key.join(" ");
  let slot = slots.get(name);
  if (!slot) slots.set(name, (slot = { key, rows: 0, counts: counts() }));
  return slot;
}

/**
 * Adds the slots to the table. The caller holds a lock against concurrent writers, because texts are read and merged.
 */
export async function addSlots(
  tx: RawTransaction,
  kind: Database["kind"],
  of: CountTable,
  slots: readonly CountedSlot[],
): Promise<void> {
  const { table, key } = of;
  const columns = [...key, "log_rows", "counts"];
  const upsert = { table, columns, key, add: ["log_rows"], replace: ["counts"] } as const;
  for (const some of inChunks(slots, SLOTS_AT_ONCE)) {
    const stored = await storedTexts(tx, kind, of, some);
    const values = some.flatMap((slot) => [...slot.key, slot.rows, buildCountsText(of, slot, stored)]);
    await tx.run(upsertSql(kind, upsert, some.length), values);
  }
}

/** Builds the text without changing the slot: a transaction that the database aborts is retried. */
function buildCountsText(
  { maxValues }: CountTable,
  { key, counts }: CountedSlot,
  stored: ReadonlyMap<string, string>,
): string {
  if (!counts) return "";
  const text = stored.get(key.join(" "));
  if (text === undefined) return encodeCounts(counts, maxValues);
  return text === "" ? "" : encodeCounts(withText(counts, text), maxValues);
}

/** Returns the stored texts that the slots add to, by their keys. */
async function storedTexts(
  tx: RawTransaction,
  kind: Database["kind"],
  of: CountTable,
  slots: readonly CountedSlot[],
): Promise<Map<string, string>> {
  const keys = slots.filter(({ counts }) => counts).map(({ key }) => key);
  const rows = await rowsByKey<Record<string, string | number>>(tx, kind, { ...of, columns: ["counts"] }, keys);
  return new Map(rows.map((row) => [of.key.map((name) => row[name]).join(" "), String(row["counts"])]));
}
