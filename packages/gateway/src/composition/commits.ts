import { join } from "node:path";
import type { AppStorage } from "./storage.ts";
import { createDirectSettlement, type DirectSettlementDeps } from "../billing/ledger/booking/direct-settlement.ts";
import type { Ledger } from "../billing/ledger/ledger.ts";
import { type CommitWatch, createCommitWatch, type LostCommits } from "../billing/ledger/lost-commits/commit-watch.ts";
import { type History, openHistory } from "../billing/ledger/lost-commits/history.ts";
import { readIdentity } from "../billing/ledger/lost-commits/identity.ts";
import { createWatchedLedger } from "../billing/ledger/lost-commits/watched-ledger.ts";
import type { RedisLedger } from "../billing/ledger/redis/redis-ledger.ts";
import { createLeaseTime } from "../billing/reservations/lease-time.ts";
import type { Env } from "../config/env.ts";
import { buildSlotKey, recordEvent } from "../events/record-event.ts";
import { steadyClock, type Clock } from "../lib/clock.ts";
import type { Logger } from "../observability/log.ts";
import type { Metrics } from "../observability/metrics.ts";
import { createAuditStore } from "../resources/audit/store.ts";
import type { LiveSnapshots } from "../snapshot/refresh.ts";

export interface CommitsDeps {
  readonly env: Env;
  readonly storage: AppStorage;
  readonly ledger: Ledger;
  /** The same ledger, if it has live balances. */
  readonly cluster: RedisLedger | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly snapshots: LiveSnapshots;
  readonly balanceLimit: DirectSettlementDeps["balanceLimit"];
}

export interface WatchedCommits {
  readonly ledger: Ledger;
  readonly watch: CommitWatch;
}

const MINUTE_MS = 60_000;
/** Several replicas notice the same loss. */
const EVENT_SLOT_MS = 10 * MINUTE_MS;
/** How many lost movements an audit entry names; the log of the process names all. */
const MAX_NAMED = 50;

/** Watches whether the database retains what it has committed, and repairs what it has lost. */
export async function watchCommits(deps: CommitsDeps): Promise<WatchedCommits> {
  const { env, storage, ledger, cluster, log, snapshots } = deps;
  const database = storage.database.raw;
  const history = env.journalMinutes === 0 ? undefined : openOwnHistory(deps, await readIdentity(database));
  const direct = cluster ? undefined : createRebooking(deps);
  const watch = createCommitWatch({
    database,
    history,
    clock: steadyClock,
    log,
    book: direct && ((charges) => direct.book(charges)),
    async onBack() {
      cluster?.databaseWentBack();
      // The revisions went back as well, so the next change could look like one that is known.
      await snapshots.refresh();
    },
    report: (lost) => report(lost, deps),
  });
  return {
    watch,
    ledger: createWatchedLedger({ ledger, watch, history, clock: deps.clock, commitsOnSettle: cluster === undefined }),
  };
}

function openOwnHistory({ env, log }: CommitsDeps, identity: string): History | undefined {
  const dir = join(env.dataDir, "journal", "booked");
  try {
    const retentionMs = env.journalMinutes * MINUTE_MS;
    return openHistory({ dir, identity, clock: steadyClock, log, retentionMs });
  } catch (error) {
    const effect = "charges could not be booked again if the database went back: make FAIRWAY_DATA_DIR writable";
    log.warn(`booked charges cannot be written to ${dir}, so ${effect}`, { error });
    return undefined;
  }
}

function createRebooking({ storage, clock, log, metrics, balanceLimit }: CommitsDeps) {
  const { database, isLogSeparate } = storage;
  return createDirectSettlement({
    database: database.raw,
    clock,
    log,
    leaseTime: createLeaseTime(database.kind),
    isLive: false,
    isLogSeparate,
    balanceLimit,
    onLogRowRefused: () => metrics.logRowRefused(),
    // The schedule moves waiting log rows, and balances in memory do not exist without Redis.
    onCommit: () => undefined,
    onBalance: undefined,
    onBudgets: () => undefined,
  });
}

async function report(lost: LostCommits, { storage, clock, metrics }: CommitsDeps): Promise<void> {
  const { rebooked, rebookedQuota, changes } = lost;
  metrics.databaseWentBack({ rebooked, lostChanges: changes.length });
  const summary = { rebooked, rebooked_quota: rebookedQuota, lost_changes: changes.length };
  const named = changes.slice(0, MAX_NAMED).map(({ requestId, kind, userId, quota, at }) => ({
    request_id: requestId,
    kind,
    user_id: userId,
    quota,
    at,
  }));
  await createAuditStore({ database: storage.database, clock }).add({
    user_id: 0,
    username: "fairway",
    action: "databaseWentBack",
    target: "",
    old_value: null,
    new_value: JSON.stringify({ ...summary, changes: named }),
    ip: "",
  });
  const atMs = clock.now();
  await recordEvent(storage.database.db, {
    type: "database.went_back",
    atMs,
    dedupKey: buildSlotKey("database.went_back", "main", { atMs, ms: EVENT_SLOT_MS }),
    data: summary,
  });
}
