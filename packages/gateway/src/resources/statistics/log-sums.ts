import { LOG_TYPE } from "@fairway/wire";
import type { AlikeRows } from "./alike-rows.ts";
import { DAY, HOUR, SLICE } from "./dimensions.ts";
import { ensureSlot, type CountedSlot, type CountTable } from "./counted-rows.ts";
import { addColumns, addCount, addError, noCounts } from "./facet-counts.ts";

/** Row of `revisions` with the id of the last log row in the log sums. */
export const LOG_SUMS_MARK = "log-sums";
/** Row of `revisions` with the time (seconds) up to which the log sums may lack rows. */
export const LOG_SUMS_GAP = "log-sums-gap";

export const LOG_SUMS: CountTable = {
  table: "log_sums",
  key: ["by_model", "model_name", "span", "start", "type"],
  texts: ["model_name"],
  maxValues: 10_000,
};

/** Intervals without facets, which plots do not need; a day of one model is read by the hour. */
const INTERVALS = [
  { byModel: 0, span: SLICE, hasFacets: false },
  { byModel: 0, span: HOUR, hasFacets: true },
  { byModel: 0, span: DAY, hasFacets: true },
  { byModel: 1, span: SLICE, hasFacets: false },
  { byModel: 1, span: HOUR, hasFacets: true },
] as const;

/** Counts the rows of a pass by time and type, for all models together and for each model. */
export function gatherLogSums(groups: readonly AlikeRows[], trim: (text: string) => string): CountedSlot[] {
  const slots = new Map<string, CountedSlot>();
  for (const { first: row, rows } of groups) {
    const model = trim(row.model_name);
    for (const { byModel, span, hasFacets } of INTERVALS) {
      const start = row.created_at - (row.created_at % span);
      const key = [byModel, byModel === 1 ? model : "", span, start, row.type];
      const slot = ensureSlot(slots, key, () => (hasFacets ? noCounts() : undefined));
      slot.rows += rows.length;
      if (!slot.counts) continue;
      addColumns(slot.counts, row, rows.length);
      addCount(slot.counts.users, row.username, rows.length);
      if (row.type === LOG_TYPE.error) addError(slot.counts, row.other, rows.length);
    }
  }
  return [...slots.values()];
}
