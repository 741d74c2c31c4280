import { repeat } from "../lib/async/repeat.ts";
import type { Runnable } from "../lib/async/runnable.ts";
import type { Clock } from "../lib/clock.ts";
import { ANSWER_MS, withinTime } from "../lib/async/time-limit.ts";
import { readRevisions, snapshotRevision, type Revisions, type Topic } from "../storage/revisions.ts";
import { createLoader, type Loaded, type LoadDeps, type Upcoming } from "./load.ts";
import type { Snapshot, SnapshotStore } from "./types.ts";

const POLL_MS = 5_000;
/** A full read takes longer than a single query. */
const LOAD_MS = 2 * ANSWER_MS;

export interface SnapshotStoreDeps extends LoadDeps {
  readonly pollMs?: number;
  /** Called when unknown tokens or users changed. */
  readonly onAccountsChanged?: () => void;
  /** Called after every poll with whether the database answered. */
  readonly onPolled?: (hasAnswered: boolean) => void;
  /** Notifies the other replicas, which then call `changed`. */
  readonly publish?: (topic: Topic) => Promise<void>;
}

export interface LiveSnapshots extends SnapshotStore, Runnable {
  /** Returns the revision of channels and options that is in use; 0 before the start. */
  revision(): number;
  /** Call after the commit of a change: this replica has it when the promise resolves, the others soon after. */
  announce(topic: Topic): Promise<void>;
  /** Call when another replica made a change. */
  changed(topic: Topic): Promise<void>;
}

/**
 * Updates the snapshot immediately after local changes, on messages of other replicas, and by polling the revisions in
 * case a message is lost.
 */
export function createSnapshotStore(deps: SnapshotStoreDeps): LiveSnapshots {
  const { log, clock, pollMs = POLL_MS } = deps;
  const load = createLoader(deps);
  const held = createHolder(clock, () => {
    refresh().catch((error: unknown) => log.warn("the snapshot was not read after a change of prices", { error }));
  });
  let known: Revisions | undefined;

  const refresh = oneAtATime(async () => {
    const loaded = await withinTime(LOAD_MS, load);
    // Only the poll finds changed accounts.
    known = {
      ...loaded.revisions,
      tokens: known?.tokens ?? loaded.revisions.tokens,
      users: known?.users ?? loaded.revisions.users,
    };
    held.replace(loaded);
  });

  const poll = async () => {
    const found = await readAndTell(deps);
    if (!known) return;
    const { options, channels, tokens, users } = known;
    if (found.tokens !== tokens || found.users !== users) {
      known = { ...known, tokens: found.tokens, users: found.users };
      deps.onAccountsChanged?.();
    }
    if (found.options !== options || found.channels !== channels) await refresh();
  };

  const polling = repeat({
    name: "revision poll",
    everyMs: pollMs,
    work: poll,
    onError: (error) => log.warn("changes cannot be read; the last snapshot stays in use", { error }),
  });

  return {
    name: "snapshot",
    current: held.current,
    revision: () => (known ? snapshotRevision(known) : 0),
    refresh,
    subscribe: held.subscribe,
    async announce(topic) {
      if (isInSnapshot(topic)) await refresh();
      await deps.publish?.(topic);
    },
    async changed(topic) {
      if (isInSnapshot(topic)) await refresh();
      else deps.onAccountsChanged?.();
    },
    async start() {
      await refresh();
      await polling.start();
    },
    stop: () => polling.stop(),
  };
}

/**
 * Holds the snapshot in use. One with planned prices takes its place in its second, whether or not the database answers
 * then; `onBegun` reads what is planned after it.
 */
function createHolder(clock: Clock, onBegun: () => void) {
  const listeners = new Set<(snapshot: Snapshot) => void>();
  let snapshot: Snapshot | undefined;
  let upcoming: Upcoming | undefined;
  const use = (next: Snapshot): Snapshot => {
    snapshot = next;
    for (const listener of listeners) listener(next);
    return next;
  };
  return {
    current(): Snapshot {
      if (upcoming !== undefined && clock.now() >= upcoming.atMs) {
        const begun = upcoming.snapshot;
        upcoming = undefined;
        onBegun();
        return use(begun);
      }
      if (snapshot) return snapshot;
      throw new Error("the snapshot is used before it was loaded");
    },
    replace(loaded: Pick<Loaded, "snapshot" | "upcoming">): void {
      upcoming = loaded.upcoming;
      use(loaded.snapshot);
    },
    subscribe(listener: (snapshot: Snapshot) => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

async function readAndTell({ database, onPolled }: SnapshotStoreDeps): Promise<Revisions> {
  try {
    const found = await withinTime(ANSWER_MS, () => readRevisions(database));
    onPolled?.(true);
    return found;
  } catch (error) {
    onPolled?.(false);
    throw error;
  }
}

function isInSnapshot(topic: Topic): boolean {
  return topic === "options" || topic === "channels";
}

/**
 * Runs of `work` never overlap. Calls during a run share the next run, which sees everything written before them.
 */
function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const start = () => {
    next = undefined;
    running = work().finally(() => (running = undefined));
    return running;
  };
  return () => {
    if (!running) return start();
    // The callers of a run handle its failure.
    next ??= running.then(start, start);
    return next;
  };
}
