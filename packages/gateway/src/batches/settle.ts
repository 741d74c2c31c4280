import { quota } from "../billing/money/quota.ts";
import { AppError } from "../lib/app-error.ts";
import { seconds } from "../lib/clock.ts";
import { readLogNames } from "../relay/reservation/log-names.ts";
import type { RawTransaction } from "../storage/engines/raw.ts";
import { findAccount, hasChannel } from "./accounts.ts";
import { findProviderName } from "./count-batches.ts";
import { readKnownIds } from "./custom-ids.ts";
import type { ModelEstimate } from "./estimate-batch.ts";
import { requireProtocol } from "./protocols/index.ts";
import { followAgain, markLost } from "./lost.ts";
import { lacksResults, refreshBatch } from "./poll.ts";
import { openTerms, type BatchTerms, type OpenTerms } from "./pricing/terms.ts";
import { findEndType, recordBatchEnd } from "./record-end.ts";
import { openAllResults } from "./results.ts";
import { readBatchResults, type ReadResultsRequest } from "./results/read-results.ts";
import { settleBatch } from "./results/settle-batch.ts";
import type { BatchSums } from "./results/sums.ts";
import { calculateResultPause } from "./schedule-poll.ts";
import { findDueBatches, updateBatch } from "./store.ts";
import type { BatchDeps, BatchRow } from "./types.ts";

export type SettleDeps = Pick<
  BatchDeps,
  | "database"
  | "ledger"
  | "snapshots"
  | "upstream"
  | "clock"
  | "log"
  | "metrics"
  | "hashKey"
  | "counter"
  | "library"
  | "random"
>;

export interface SettleRun {
  readonly signal?: AbortSignal;
  /** Throws if another process may settle now; inside of a transaction, until that ends. */
  readonly confirm: (tx?: RawTransaction) => Promise<void>;
}

const MAX_DUE = 20;
const MAX_PARALLEL = 2;
const HOUR_MS = 3_600_000;
const STUCK_PAUSE_MS = 24 * HOUR_MS;
/** Results that lack answers are read again for this long. */
const SHORT_FOR_MS = HOUR_MS;

/** Books the batches that have ended, oldest first, and tries stuck ones again. Nothing is written before the sums are complete. */
export async function settleEndedBatches(deps: SettleDeps, run: SettleRun): Promise<void> {
  const now = deps.clock.now();
  const waiting = [
    ...(await findDueBatches(deps, "ended", now, MAX_DUE)),
    ...(await findDueBatches(deps, "stuck", now, MAX_DUE)),
  ];
  const work = async () => {
    for (let row = waiting.shift(); row && !run.signal?.aborted; row = waiting.shift()) {
      await run.confirm();
      // Without a known end, what can be read is a part of the results or nothing: it must not be booked.
      if (row.ended_at > 0) await settleOrPostpone(row, deps, run);
      else await followAgain(row, deps);
    }
  };
  await Promise.all(Array.from({ length: MAX_PARALLEL }, work));
}

async function settleOrPostpone(row: BatchRow, deps: SettleDeps, run: SettleRun): Promise<void> {
  try {
    const late = lacksResults(row) ? await refreshBatch(row, deps) : row;
    if (!(await settleEnded(late, deps, run))) await postpone(row, "short_results", deps);
  } catch (error) {
    if (run.signal?.aborted) throw error;
    deps.log.warn("the results of a batch could not be booked", { batch: row.id, channel: row.channel_id, error });
    await run.confirm();
    await postpone(row, "results_unreadable", deps);
  }
}

/** Reads the results and books them; false if answers are missing that may still come. */
async function settleEnded(row: BatchRow, deps: SettleDeps, run: SettleRun): Promise<boolean> {
  const terms = openTerms(JSON.parse(row.terms) as BatchTerms);
  const sums = await readAllSums(row, terms, deps, run.signal);
  const isShort = sums.succeeded < row.succeeded;
  if (isShort && row.phase === "ended" && deps.clock.now() - row.ended_at * 1000 < SHORT_FOR_MS) return false;
  await book(row, { terms, sums, isShort }, deps, run);
  return true;
}

async function readAllSums(
  row: BatchRow,
  terms: OpenTerms,
  deps: SettleDeps,
  signal: AbortSignal | undefined,
): Promise<BatchSums> {
  const streams = await openAllResults(row, deps, signal);
  const knownIds = await readKnownIds(row.id, deps);
  const sums = await readSums({ row, terms, streams, ...(knownIds && { knownIds }) }, deps);
  if (streams.length > 0) return sums;
  // Without an answer there is nothing to charge, and the upstream's counts say enough.
  const { failed, expired, cancelled } = row;
  return { ...sums, failed, expired, cancelled, missing: Math.max(0, row.total - failed - expired - cancelled) };
}

type Reading = Pick<ReadResultsRequest, "streams" | "terms" | "knownIds"> & { readonly row: BatchRow };

/** Adds up what the results of a batch cost. */
export function readSums({ row, ...reading }: Reading, { counter }: Pick<SettleDeps, "counter">): Promise<BatchSums> {
  return readBatchResults({
    ...reading,
    format: requireProtocol(row.dialect).findFormat(row),
    models: JSON.parse(row.models) as Record<string, ModelEstimate>,
    total: row.total,
    count: (model, texts) => counter.count(model, texts),
  });
}

interface Booking {
  readonly terms: OpenTerms;
  readonly sums: BatchSums;
  readonly isShort: boolean;
}

async function book(row: BatchRow, { terms, sums, isShort }: Booking, deps: SettleDeps, run: SettleRun): Promise<void> {
  const { database, ledger, snapshots, clock } = deps;
  const models = Object.values(JSON.parse(row.models) as Record<string, ModelEstimate>);
  const names = await readLogNames(row, deps);
  const batch = {
    id: row.id,
    requestId: row.request_id,
    userId: row.user_id,
    tokenId: row.token_id,
    ...names,
    tags: row.tags,
    endUser: row.end_user,
    channelId: row.channel_id,
    group: row.group,
    endpoint: row.endpoint,
    total: row.total,
    uncapped: models.reduce((sum, { uncapped }) => sum + uncapped, 0),
    deposit: quota(row.deposit),
    createdAt: row.created_at,
    endedAt: row.ended_at,
    terms,
    isLogged: snapshots.current().options.LogConsumeEnabled,
    isShort,
  };
  const work = async (tx: RawTransaction) => {
    await run.confirm(tx);
    await markSettled(tx, row, sums, { clock });
    await recordBatchEnd(tx, { row, counts: sums, type: findEndType(row) }, deps);
  };
  const isBooked = await ledger.closeDeposit(settleBatch(batch, sums, { at: clock.now(), work }));
  if (isBooked) return measure(row, sums, deps);
  // Another leader has booked it; its transaction has marked the row.
  const { phase } = await database.db
    .selectFrom("batches")
    .select("phase")
    .where("id", "=", row.id)
    .executeTakeFirstOrThrow();
  if (phase !== "settled") throw new Error(`the deposit of the batch ${row.id} is closed, but the batch is ${phase}`);
}

function measure(row: BatchRow, sums: BatchSums, deps: SettleDeps): void {
  const { succeeded, failed, expired, cancelled, unreadable, missing } = sums;
  deps.metrics.batchSettled({
    provider: findProviderName(row.channel_id, deps),
    seconds: Math.max(0, seconds(deps.clock) - row.ended_at),
    results: { succeeded, failed, expired, cancelled, unreadable, missing },
    isOverDeposit: sums.quota > row.deposit,
  });
}

async function markSettled(
  tx: RawTransaction,
  row: BatchRow,
  { quota: charged, full }: Pick<BatchSums, "quota" | "full">,
  { clock }: Pick<BatchDeps, "clock">,
): Promise<void> {
  const sql =
    "update batches set phase = 'settled', charged = ?, saved = ?, settled_at = ?, error = '', next_poll_at = ?, revision = revision + 1 where id = ? and phase in ('ended', 'stuck')";
  const changed = await tx.run(sql, [charged, full - charged, seconds(clock), clock.now(), row.id]);
  if (changed !== 1) throw new AppError("batch_not_ready", { values: { id: row.id } });
}

/** Reads the results later; after BatchGiveUpHours once a day, because a person may have repaired the channel. */
async function postpone(row: BatchRow, error: string, deps: SettleDeps): Promise<void> {
  if (!findAccount(row, deps) && !(await hasChannel(row.channel_id, deps))) return markLost(row, deps);
  const now = deps.clock.now();
  const giveUpMs = deps.snapshots.current().options.BatchGiveUpHours * HOUR_MS;
  const isStuck = row.phase === "stuck" || now - row.ended_at * 1000 > giveUpMs;
  if (isStuck && row.phase !== "stuck")
    deps.log.error("a batch waits for a person: its results cannot be read", { batch: row.id });
  await updateBatch(deps, row.id, ["ended", "stuck"], {
    ...(isStuck && { phase: "stuck" as const }),
    error,
    failures: row.failures + 1,
    next_poll_at: now + (isStuck ? STUCK_PAUSE_MS : calculateResultPause(row.failures)),
  });
}
