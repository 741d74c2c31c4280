import type { LogRow } from "@fairway/wire";

export interface SeenRows {
  /** Returns for each row of one read whether it is new: more rows like it arrived than were seen. */
  reading(): (row: LogRow) => boolean;
  /** Takes a new row for seen and answers its number. */
  add(row: LogRow, now: number): number;
  /** Drops rows that were seen before this time. */
  forgetBefore(seconds: number): void;
}

/**
 * What was printed already. Owners see running numbers instead of ids, so their rows are identified by what they
 * say, and counted where several say the same.
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
