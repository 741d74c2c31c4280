import { LOG_TYPE } from "@fairway/wire";
import type { AlikeRows } from "./alike-rows.ts";
import { DAY, HOUR } from "./dimensions.ts";
import { ensureSlot, type CountedSlot, type CountTable } from "./counted-rows.ts";
import { addColumns, addError, noCounts } from "./facet-counts.ts";

/** Row of `revisions` with the id of the last log row in the facet sums. */
export const FACET_MARK = "facet-sums";
/** Row of `revisions` with the time (seconds) up to which the sums of facets and of attempts may lack rows. */
export const LATER_SUMS_GAP = "facet-sums-gap";

export const FACET_SUMS: CountTable = {
  table: "facet_sums",
  key: ["user_id", "span", "start", "type", "username"],
  texts: ["username"],
  maxValues: 500,
};

/** Counts the rows of a pass by user, type, hour and day. */
export function gatherFacets(groups: readonly AlikeRows[]): CountedSlot[] {
  const slots = new Map<string, CountedSlot>();
  for (const { first: row, rows } of groups) {
    // MariaDB compares texts without trailing spaces.
    const username = row.username.trimEnd();
    for (const span of [HOUR, DAY]) {
      const start = row.created_at - (row.created_at % span);
      const slot = ensureSlot(slots, [row.user_id, span, start, row.type, username], noCounts);
      slot.rows += rows.length;
      if (!slot.counts) continue;
      addColumns(slot.counts, row, rows.length);
      if (row.type === LOG_TYPE.error) addError(slot.counts, row.other, rows.length);
    }
  }
  return [...slots.values()];
}
