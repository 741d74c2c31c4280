import { setTimeout as pause } from "node:timers/promises";
import { repeat } from "../../../lib/async/repeat.ts";
import type { Runnable } from "../../../lib/async/runnable.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Logger } from "../../../observability/log.ts";
import type { RawDatabase } from "../../../storage/engines/raw.ts";
import { inList } from "../../../storage/statements.ts";
import { settledRequests } from "../booking/booked-requests.ts";
import type { Charge } from "../charge.ts";
import { createCommitSamples, type CommittedRow } from "./commit-samples.ts";
import type { BookedChange, History } from "./history.ts";

/** What a database that went back has lost, as far as this process knows. */
export interface LostCommits {
  /** Charges that this process booked again. */
  readonly rebooked: number;
  readonly rebookedQuota: number;
  /** Movements that cannot be booked again, because what came with them is lost too. */
  readonly changes: readonly BookedChange[];
}

export interface CommitWatchDeps {
  readonly database: RawDatabase;
  /** Undefined if the disk is not writable: then a loss is noticed, but nothing is booked again. */
  readonly history: History | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  /** Books charges that the database does not have; undefined if the journals of live balances do that. */
  readonly book: ((charges: readonly Charge[]) => Promise<void>) | undefined;
  /** Called before anything is booked again. */
  readonly onBack: () => Promise<void> | void;
  /** Called once what can be booked again is booked. */
  readonly report: (lost: LostCommits) => Promise<void>;
  readonly everyMs?: number;
  readonly confirmMs?: number;
}

/**
 * Notices that the database lost transactions that it had committed: an asynchronous standby was promoted, or an older
 * copy was put back. Ledger rows are never removed, so the rows of this process are the mark of its progress, and no
 * transaction pays for another one.
 */
export interface CommitWatch extends Runnable {
  committed(row: CommittedRow): void;
  /** The first check also compares what earlier processes on this disk have committed. Throws database errors. */
  check(): Promise<void>;
}

const EVERY_MS = 2_000;
/** Another node of a cluster may show a commit a moment later. */
const CONFIRM_MS = 1_000;
const AT_ONCE = 500;

export function createCommitWatch(deps: CommitWatchDeps): CommitWatch {
  const { database, history, clock, log, everyMs = EVERY_MS, confirmMs = CONFIRM_MS } = deps;
  const samples = createCommitSamples();
  let isFirst = true;
  let checking: Promise<void> | undefined;

  const confirmMissing = async (rows: readonly CommittedRow[]): Promise<readonly CommittedRow[]> => {
    const missing = await listMissing(database, rows);
    if (missing.length === 0) return missing;
    await pause(confirmMs);
    return listMissing(database, missing);
  };

  const recover = async (missing: number) => {
    log.error("the database went back: it does not have transactions that it had committed", { missing });
    await deps.onBack();
    const lost = await compareHistory(deps);
    for (const change of lost.changes)
      log.error("a movement of a balance is lost and cannot be booked again", { ...change });
    log.warn("charges that the database had lost were booked again", {
      count: lost.rebooked,
      quota: lost.rebookedQuota,
    });
    await deps.report(lost);
  };

  const check = async () => {
    const rows = samples.take(clock.now());
    try {
      const missing = await confirmMissing(rows);
      const found = isFirst && history ? await countMissing(deps, history) : 0;
      if (missing.length + found > 0) await recover(missing.length + found);
      isFirst = false;
      history?.prune();
    } catch (error) {
      samples.putBack(rows);
      throw error;
    }
  };
  const checkOnce = () => (checking ??= check().finally(() => (checking = undefined)));

  const watching = repeat({
    name: "commit watch",
    everyMs,
    work: checkOnce,
    onError: (error) => log.debug("committed transactions could not be compared; the next check does it", { error }),
  });
  return {
    name: "commit watch",
    start: () => watching.start(),
    async stop() {
      await watching.stop();
      history?.close();
    },
    committed: (row) => samples.add(row, clock.now()),
    check: checkOnce,
  };
}

async function listMissing(database: RawDatabase, rows: readonly CommittedRow[]): Promise<CommittedRow[]> {
  const missing: CommittedRow[] = [];
  for (let from = 0; from < rows.length; from += AT_ONCE) {
    const some = rows.slice(from, from + AT_ONCE);
    const { marks, values } = inList(some.map(({ requestId }) => requestId));
    const found = await database.rows<{ request_id: string; kind: string }>(
      `select request_id, kind from ledger where request_id in ${marks}`,
      values,
    );
    const known = new Set(found.map(({ request_id, kind }) => `${kind} ${request_id}`));
    missing.push(...some.filter(({ requestId, kind }) => !known.has(`${kind} ${requestId}`)));
  }
  return missing;
}

/** Returns how many of the last entries of the history the database does not have. */
async function countMissing({ database }: CommitWatchDeps, history: History): Promise<number> {
  const { charges, changes } = history.readLast();
  const ids = charges.map(({ settlement: { hold } }) => hold.requestId);
  let missing = (await listMissing(database, changes)).length;
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const some = ids.slice(from, from + AT_ONCE);
    missing += new Set(some).difference(await settledRequests(database, some)).size;
  }
  return missing;
}

async function compareHistory({ database, history, book }: CommitWatchDeps): Promise<LostCommits> {
  const changes: BookedChange[] = [];
  let [rebooked, rebookedQuota] = [0, 0];
  for (const part of history?.read() ?? []) {
    const lost = new Set(
      (await listMissing(database, part.changes)).map(({ requestId, kind }) => `${kind} ${requestId}`),
    );
    changes.push(...part.changes.filter(({ requestId, kind }) => lost.has(`${kind} ${requestId}`)));
    if (!book) continue;
    const ids = part.charges.map(({ settlement: { hold } }) => hold.requestId);
    const settled = await settledRequests(database, ids);
    const due = part.charges.filter(({ settlement: { hold } }) => !settled.has(hold.requestId));
    if (due.length > 0) await book(due);
    rebooked += due.length;
    for (const { settlement } of due) rebookedQuota += settlement.quota;
  }
  return { rebooked, rebookedQuota, changes };
}
