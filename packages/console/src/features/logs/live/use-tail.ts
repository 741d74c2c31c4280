import { LogRow } from "@fairway/wire";
import { useEffect, useRef, useState } from "react";
import { loadCode } from "../../../lib/server/chunks.ts";
import { openTail, refreshRows, type LogFilter } from "../api.ts";
import { missed, NO_TAIL, received, released, type Tail } from "./tail.ts";

type Connection = "off" | "connecting" | "open" | "lost";

interface Following {
  readonly filter: LogFilter;
  readonly isAdmin: boolean;
  readonly isOn: boolean;
  /** True if new rows wait, so that the list does not move while it is read. */
  readonly isHeld: boolean;
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
/** Three heartbeats of the server. */
const SILENCE_MS = 45_000;

/** Returns whether the tab is visible: a hidden one follows nothing. */
function useIsVisible(): boolean {
  const [isVisible, setVisible] = useState(!document.hidden);
  useEffect(() => {
    const read = () => setVisible(!document.hidden);
    document.addEventListener("visibilitychange", read);
    return () => document.removeEventListener("visibilitychange", read);
  }, []);
  return isVisible;
}

/** Follows the log. After a gap the list is reloaded, and the rows that arrived before are dropped. */
export function useTail({ filter, isAdmin, isOn, isHeld }: Following) {
  const [tail, setTail] = useState<Tail>(NO_TAIL);
  const [connection, setConnection] = useState<Connection>("off");
  const held = useRef(isHeld);
  useEffect(() => {
    held.current = isHeld;
  }, [isHeld]);
  const isVisible = useIsVisible();
  const key = JSON.stringify(filter);
  const isFollowing = isOn && isVisible;
  useEffect(() => {
    setTail(NO_TAIL);
    if (!isFollowing) return setConnection("off");
    const stop = new AbortController();
    const follower: Follower = {
      open: () => openTail(JSON.parse(key) as LogFilter, isAdmin, stop.signal),
      onConnection: setConnection,
      onRows: (rows) => setTail((current) => received(current, isAdmin ? rows : renumbered(rows), held.current)),
      onMissed: (count) => setTail((current) => missed(current, count)),
      onGap: () => {
        setTail(NO_TAIL);
        void refreshRows();
      },
    };
    void follow(follower, stop.signal);
    return () => stop.abort();
  }, [key, isAdmin, isFollowing]);
  return { tail, connection, release: () => setTail(released) };
}

interface Follower {
  open(): Promise<ReadableStream<Uint8Array>>;
  onConnection(connection: Connection): void;
  onRows(rows: LogRow[]): void;
  onMissed(count: number): void;
  /** Called if the stream may have missed rows. */
  onGap(): void;
}

/** Reads one stream after the other until the signal aborts. */
async function follow(follower: Follower, signal: AbortSignal): Promise<void> {
  let pause = FIRST_PAUSE_MS;
  follower.onConnection("connecting");
  while (!signal.aborted) {
    try {
      const stream = await follower.open();
      const openedAt = performance.now();
      // The list was read before the stream began.
      follower.onGap();
      follower.onConnection("open");
      await read(stream, follower);
      if (performance.now() - openedAt > LONGEST_PAUSE_MS) pause = FIRST_PAUSE_MS;
    } catch {
      // The next stream reports why this one ended, and the page shows that none is open.
    }
    if (signal.aborted) return;
    follower.onConnection("lost");
    await rest(pause, signal);
    pause = Math.min(LONGEST_PAUSE_MS, pause * 2);
  }
}

async function read(stream: ReadableStream<Uint8Array>, follower: Follower): Promise<void> {
  // Few people follow the log, so that the page loads without the parser.
  const { eventBatches } = await loadCode(async () => import("../../../lib/server/sse.ts"));
  for await (const batch of eventBatches(stream, SILENCE_MS)) {
    const rows = batch.filter(({ name }) => name === "row").flatMap(({ data }) => rowsIn(data));
    if (rows.length > 0) follower.onRows(rows);
    for (const { name, data } of batch) if (name === "dropped") follower.onMissed(countIn(data));
  }
}

function rowsIn(data: string): LogRow[] {
  const parsed = LogRow.safeParse(JSON.parse(data));
  return parsed.success ? [parsed.data] : [];
}

function countIn(data: string): number {
  const { count } = JSON.parse(data) as { count?: unknown };
  return typeof count === "number" ? count : 0;
}

let lastNumber = 0;

/** Rows of owners have running numbers, which also occur in the list. */
function renumbered(rows: readonly LogRow[]): LogRow[] {
  return rows.map((row) => ({ ...row, id: (lastNumber -= 1) }));
}

function rest(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
