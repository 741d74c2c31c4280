import { EVERYTHING } from "./filter.ts";
import type { LogStore } from "./store.ts";
import type { StoredLog } from "./view.ts";

export interface LogFeed {
  /** Returns the rows written since the last call, and the number of further rows that were too many to read. */
  next(): Promise<{ readonly rows: StoredLog[]; readonly skipped: number }>;
}

/** Maximum number of rows of one statement. */
const READ = 500;
/** Maximum number of rows between two calls; further rows are only counted by their ids. */
const MOST = 5_000;
/** Transactions commit out of the order of their ids, so each call rereads this many ids. */
const LOOK_BACK = 200;

/** Follows the log rows of all replicas, starting now. */
export async function createLogFeed(store: Pick<LogStore, "newestId" | "after">): Promise<LogFeed> {
  let newest = await store.newestId();
  const seen = new Set<number>();
  for (const { id } of await store.after(EVERYTHING, newest - LOOK_BACK, READ)) seen.add(id);
  return {
    async next() {
      const latest = await store.newestId();
      const skipped = Math.max(0, latest - newest - MOST);
      const rows: StoredLog[] = [];
      let from = skipped > 0 ? latest - MOST : newest - LOOK_BACK;
      for (;;) {
        const some = await store.after(EVERYTHING, from, READ);
        rows.push(...some.filter(({ id }) => !seen.has(id)));
        from = some.at(-1)?.id ?? from;
        if (some.length < READ) break;
      }
      for (const { id } of rows) seen.add(id);
      newest = Math.max(newest, latest, rows.at(-1)?.id ?? 0);
      for (const id of seen) if (id <= newest - LOOK_BACK) seen.delete(id);
      return { rows, skipped };
    },
  };
}
