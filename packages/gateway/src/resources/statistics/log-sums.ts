import { LOG_TYPE } from "@fairway/wire";
import { DAY, HOUR } from "./dimensions.ts";
import { ensureSlot, type CountedSlot, type CountTable } from "./counted-rows.ts";
import { addColumns, addCount, addError, noCounts } from "./facet-counts.ts";
import type { GatheredLog } from "./gather.ts";

/** Row of `revisions` with the id of the last log row in the log sums. */
export const LOG_SUMS_MARK = "log-sums";
/** Row of `revisions` with the time (seconds) up to which the log sums may lack rows. */
export const LOG_SUMS_GAP = "log-sums-gap";
/** Five minutes; every longer bucket of a plot is a multiple of it. */
export const SLICE = 300;

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
export function gatherLogSums(rows: readonly GatheredLog[], trim: (text: string) => string): CountedSlot[] {
  const slots = new Map<string, CountedSlot>();
  for (const row of rows) {
    const model = trim(row.model_name);
    for (const { byModel, span, hasFacets } of INTERVALS) {
      const start = row.created_at - (row.created_at % span);
      const key = [byModel, byModel === 1 ? model : "", span, start, row.type];
      const slot = ensureSlot(slots, key, () => (hasFacets ? noCounts() : undefined));
      slot.rows++;
      if (!slot.counts) continue;
      addColumns(slot.counts, row, 1);
      addCount(slot.counts.users, row.username, 1);
      if (row.type === LOG_TYPE.error) addError(slot.counts, row.other);
    }
  }
  return [...slots.values()];
}
