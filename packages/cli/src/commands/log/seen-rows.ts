import type { LogRow } from "@fairway/wire";

export interface SeenRows {
  /**
   * Returns a function that tells whether a row of this read is new, which means that more rows like it arrived than
   * were seen.
   */
  reading(): (row: LogRow) => boolean;
  /** Marks a new row as seen and returns its number. */
  add(row: LogRow, now: number): number;
  /** Drops rows that were seen before this time. */
  forgetBefore(seconds: number): void;
}

/**
 * Remembers the rows that were printed. Owners see running numbers instead of ids, so their rows are identified by
 * content, and counted if several have the same content.
 */
export function createSeenRows(hasIds: boolean): SeenRows {
  const seen = new Map<string, { count: number; at: number }>();
  let total = 0;
  const buildRowKey = (row: LogRow) => (hasIds ? String(row.id) : JSON.stringify({ ...row, id: 0 }));
  return {
    reading() {
      const counts = new Map<string, number>();
      return (row) => {
        const name = buildRowKey(row);
        const count = (counts.get(name) ?? 0) + 1;
        counts.set(name, count);
        return count > (seen.get(name)?.count ?? 0);
      };
    },
    add(row, now) {
      const name = buildRowKey(row);
      seen.set(name, { count: (seen.get(name)?.count ?? 0) + 1, at: Math.max(row.created_at, now) });
      return (total += 1);
    },
    forgetBefore(seconds) {
      for (const [name, { at }] of seen) if (at < seconds) seen.delete(name);
    },
  };
}
