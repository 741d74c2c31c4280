import type { LogRow } from "@fairway/wire";
import type { Runnable } from "../../lib/runnable.ts";
import { pauseUnless, type EventStream } from "../event-stream.ts";
import type { LogQuery } from "./filter.ts";
import type { LogStore } from "./store.ts";
import type { StoredLog } from "./view.ts";

export interface LogTail extends Runnable {
  /** Sends new matching rows until the client leaves; resolves then. */
  follow(stream: EventStream, query: LogQuery, view: (rows: StoredLog[]) => Promise<LogRow[]>): Promise<void>;
}

const POLL_MS = 1_000;
/** Rows of one poll that are shown; the others are counted. */
const SHOWN = 20;
const READ = 1_000;
/** Transactions commit out of the order of their ids, so each poll looks this far back. */
const LOOK_BACK = 200;
/** A reader's rights are checked again when it reconnects. */
const LONGEST_MS = 300_000;

export function createLogTail(store: LogStore): LogTail {
  const open = new Set<EventStream>();
  return {
    name: "log tail",
    start() {},
    stop() {
      for (const stream of open) stream.end();
    },
    async follow(stream, query, view) {
      open.add(stream);
      try {
        await poll(store, stream, query, view);
      } finally {
        open.delete(stream);
        stream.end();
      }
    },
  };
}

async function poll(
  store: LogStore,
  stream: EventStream,
  query: LogQuery,
  view: (rows: StoredLog[]) => Promise<LogRow[]>,
): Promise<void> {
  const startedAt = performance.now();
  let newest = await store.newestId();
  const seen = new Set<number>();
  for (const row of await store.after(query, newest - LOOK_BACK, READ)) seen.add(row.id);
  while (!stream.closed.aborted && performance.now() - startedAt < LONGEST_MS) {
    await pauseUnless(stream.closed, POLL_MS);
    if (stream.closed.aborted) return;
    const found = await store.after(query, newest - LOOK_BACK, READ);
    const fresh = found.filter(({ id }) => !seen.has(id));
    for (const row of await view(fresh.slice(-SHOWN))) stream.send("row", row);
    if (fresh.length > SHOWN) stream.send("dropped", { count: fresh.length - SHOWN });
    for (const { id } of fresh) seen.add(id);
    newest = Math.max(newest, ...fresh.map(({ id }) => id));
    for (const id of seen) if (id <= newest - LOOK_BACK) seen.delete(id);
  }
}
