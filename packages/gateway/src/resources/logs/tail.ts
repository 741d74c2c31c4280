import type { LogRow } from "@fairway/wire";
import { repeat } from "../../lib/async/repeat.ts";
import type { Runnable } from "../../lib/async/runnable.ts";
import type { Logger } from "../../observability/log.ts";
import type { EventStream } from "../event-stream.ts";
import { createLogFeed, type LogFeed } from "./feed.ts";
import { createMatcher, type LogQuery } from "./filter.ts";
import type { LogStore } from "./store.ts";
import type { StoredLog } from "./view.ts";

export interface LogTail extends Runnable {
  /** Sends the matching rows written after `open`; resolves when the client leaves. */
  follow(open: () => EventStream, query: LogQuery, view: View): Promise<void>;
}

type View = (rows: StoredLog[]) => Promise<LogRow[]>;

interface Follower {
  readonly stream: EventStream;
  readonly isMeant: (row: StoredLog) => boolean;
  readonly view: View;
}

const POLL_MS = 1_000;
/** Maximum number of rows of a poll that are sent; the others are only counted. */
const SHOWN = 20;
/** Maximum duration of a stream: a reader's rights are checked again when it reconnects. */
const LONGEST_MS = 300_000;

/** Reads the log once per second for all followers together, and only while there is one. */
export function createLogTail(store: LogStore, log: Logger): LogTail {
  const followers = new Set<Follower>();
  let feed: LogFeed | undefined;
  const look = async () => {
    if (followers.size === 0) return void (feed = undefined);
    feed ??= await createLogFeed(store);
    const { rows, skipped } = await feed.next();
    for (const follower of followers) await show(follower, rows, skipped);
  };
  const polling = repeat({
    name: "log tail",
    everyMs: POLL_MS,
    work: look,
    onError: (error) => log.warn("the log cannot be followed", { error }),
  });
  return {
    name: "log tail",
    start: polling.start,
    async stop() {
      for (const { stream } of followers) stream.end();
      await polling.stop();
    },
    async follow(open, query, view) {
      feed ??= await createLogFeed(store);
      const stream = open();
      const follower = { stream, isMeant: createMatcher(query), view };
      followers.add(follower);
      await closedWithin(stream.closed, LONGEST_MS);
      followers.delete(follower);
      stream.end();
    },
  };
}

async function show({ stream, isMeant, view }: Follower, rows: readonly StoredLog[], skipped: number): Promise<void> {
  const meant = rows.filter(isMeant);
  if (meant.length > 0) for (const row of await view(meant.slice(-SHOWN))) stream.send("row", row);
  const dropped = Math.max(0, meant.length - SHOWN) + skipped;
  if (dropped > 0) stream.send("dropped", { count: dropped });
}

function closedWithin(closed: AbortSignal, ms: number): Promise<void> {
  if (closed.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      closed.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    closed.addEventListener("abort", done);
  });
}
