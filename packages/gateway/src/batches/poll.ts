import { seconds } from "../lib/clock.ts";
import { findAccount } from "./accounts.ts";
import type { BatchState } from "./protocols/protocol.ts";
import { requireProtocol } from "./protocols/index.ts";
import { registerFiles } from "./files/upstream-files.ts";
import { buildGiveUp, noteLostAccount } from "./lost.ts";
import { calculatePollPause, LONGEST_PAUSE_MS } from "./schedule-poll.ts";
import { claimPoll, findDueBatches, updateBatch, type BatchPatch } from "./store.ts";
import type { BatchDeps, BatchRow } from "./types.ts";
import { BatchRefusal } from "./upstream.ts";

export type PollDeps = Pick<
  BatchDeps,
  "database" | "snapshots" | "upstream" | "clock" | "log" | "hashKey" | "random" | "library"
>;

const POLL_TIMEOUT_MS = 10_000;
/** A client's read asks the upstream again after this time. */
const FRESH_MS = 10_000;
const MAX_DUE = 200;
const MAX_PARALLEL = 4;

/** Asks about every due batch; safe on several replicas. */
export async function pollDueBatches(deps: PollDeps, signal?: AbortSignal): Promise<void> {
  const due = await findDueBatches(deps, "open", deps.clock.now(), MAX_DUE);
  const byChannel = Map.groupBy(due, (row) => row.channel_id);
  await Promise.all([...byChannel.values()].map((rows) => pollChannel(rows, deps, signal)));
}

async function pollChannel(rows: readonly BatchRow[], deps: PollDeps, signal?: AbortSignal): Promise<void> {
  const waiting = [...rows];
  const work = async () => {
    for (let row = waiting.shift(); row && !signal?.aborted; row = waiting.shift()) await pollBatch(row, deps);
  };
  await Promise.all(Array.from({ length: MAX_PARALLEL }, work));
}

/** Returns the batch as the upstream has it now, or as it was if it was asked a moment ago or does not answer. */
export async function refreshBatch(row: BatchRow, deps: PollDeps): Promise<BatchRow> {
  const isChanging = row.phase === "open" || lacksResults(row);
  if (!isChanging || deps.clock.now() - row.polled_at < FRESH_MS) return row;
  return (await pollBatch(row, deps)) ?? row;
}

/** True for a batch that has ended before its results are there. */
export function lacksResults(row: BatchRow): boolean {
  const { phase, dialect, succeeded } = row;
  return phase === "ended" && succeeded > 0 && !requireProtocol(dialect).hasResults(row);
}

/** Asks the upstream about one batch, unless another process does; returns the changed row. Never rejects. */
async function pollBatch(row: BatchRow, deps: PollDeps): Promise<BatchRow | undefined> {
  const now = deps.clock.now();
  const pause = calculatePollPause(row, 0, { now, random: deps.random() });
  try {
    if (!(await claimPoll(deps, row, now, now + pause))) return undefined;
    return await askUpstream({ ...row, polled_at: now }, deps);
  } catch (error) {
    deps.log.warn("a batch could not be polled", { batch: row.id, error });
    return undefined;
  }
}

async function askUpstream(row: BatchRow, deps: PollDeps): Promise<BatchRow | undefined> {
  const account = findAccount(row, deps);
  if (!account) {
    await noteLostAccount(row, deps);
    return undefined;
  }
  const protocol = requireProtocol(row.dialect);
  const path = protocol.paths(account.support).read(row.upstream_id);
  try {
    const { json } = await deps.upstream.json(account, { ...path, timeoutMs: POLL_TIMEOUT_MS });
    const state = protocol.readState(json);
    if (!state) throw new Error("the upstream answered with something else than a batch");
    return await applyState(row, state, deps);
  } catch (error) {
    await noteFailure(row, error, deps);
    return undefined;
  }
}

/** Stores what the upstream says; a batch that has ended waits for its settlement. */
export async function applyState(
  row: BatchRow,
  state: BatchState,
  deps: Pick<BatchDeps, "database" | "clock" | "library">,
): Promise<BatchRow> {
  const files = await registerFiles(row, state, deps);
  // After its end, only late files are news.
  const news = row.phase === "open" ? buildPatch(row, state, deps) : { wire: JSON.stringify(state.wire) };
  const patch = { ...news, ...files, polls: row.polls + 1, failures: 0, error: "" };
  await updateBatch(deps, row.id, [row.phase], patch);
  return { ...row, ...patch } as BatchRow;
}

function buildPatch(row: BatchRow, state: BatchState, { clock }: Pick<BatchDeps, "clock">): BatchPatch {
  const { counts, wire, isEnded } = state;
  return {
    wire: JSON.stringify(wire),
    expires_at: state.expiresAt || row.expires_at,
    ...(counts && {
      succeeded: counts.succeeded,
      failed: counts.failed,
      expired: counts.expired,
      cancelled: counts.cancelled,
    }),
    ...(isEnded && { phase: "ended" as const, ended_at: state.endedAt || seconds(clock), next_poll_at: clock.now() }),
  };
}

/** Stores why a poll failed, for operators; clients see the last state. */
async function noteFailure(row: BatchRow, error: unknown, deps: PollDeps): Promise<void> {
  const failures = row.failures + 1;
  const isKeyRefused = error instanceof BatchRefusal && error.upstreamError.class === "bad_key";
  const now = deps.clock.now();
  const pause = isKeyRefused ? LONGEST_PAUSE_MS : calculatePollPause(row, failures, { now, random: deps.random() });
  const code = isKeyRefused ? "key_refused" : nameFailure(error);
  deps.log.warn("a batch could not be polled", { batch: row.id, channel: row.channel_id, error });
  const patch = { failures, error: code, next_poll_at: now + pause, polls: row.polls + 1 };
  await updateBatch(deps, row.id, ["open"], { ...patch, ...buildGiveUp(row, deps) });
}

function nameFailure(error: unknown): string {
  return error instanceof BatchRefusal ? error.upstreamError.class : "unreachable";
}
