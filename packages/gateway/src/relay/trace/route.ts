import type { LogExplanation } from "@fairway/wire";
import type { RelayRequest } from "../types.ts";
import type { Failure } from "../upstream/failure.ts";
import type { FailedAttempt, TracedAttempt } from "./attempt.ts";
import { boundedTrace, type AttemptEntry, type CallTrace, type TracedCandidates } from "./call-trace.ts";

/** Remembers a failed attempt; not called for requests whose first attempt delivers. */
export function noteFailure(request: RelayRequest, attempt: TracedAttempt, failure: Failure): void {
  request.failures ??= [];
  request.failures.push({ attempt, failure, endedAt: performance.now(), end: undefined });
}

export function endFailures({ failures }: RelayRequest, end: string): void {
  const last = failures?.at(-1);
  if (last) last.end = end;
}

/** What a charged request reserved, and where its price comes from. */
export interface TracedCharge {
  readonly reserved: number;
  readonly priceSource: string;
}

const NO_CANDIDATES: TracedCandidates = { entries: [], open: 0, total: 0 };

/** The route of a request that failed, or that `delivering` answered. */
export function traceOf(request: RelayRequest, delivering?: Partial<TracedAttempt>, charge?: TracedCharge): CallTrace {
  const { failures = [], startedAt } = request;
  const now = performance.now();
  const a = failures.map((failed, at) => failedEntry(failed, startedAt, nextOf(failures, at, delivering)));
  if (isTraced(delivering)) a.push(entryOf(delivering, { startedAt, endedAt: now, code: "", outcome: "ok", next: "" }));
  const { entries: c, open, total } = request.selection?.candidates() ?? NO_CANDIDATES;
  return boundedTrace({
    v: 1,
    by: routeOf(request, open),
    ms: Math.round(now - startedAt),
    ...(charge && { r: charge.reserved, p: charge.priceSource }),
    c,
    ...(total > c.length && { m: total - c.length }),
    a,
  });
}

function routeOf({ caller, pinnedAccount, isAffine, selection }: RelayRequest, open: number): LogExplanation["route"] {
  if (!selection) return "none";
  if (pinnedAccount) return "account";
  if (caller.pinnedChannel !== undefined) return "pin";
  if (isAffine === true) return "affinity";
  return open > 1 ? "weight" : "only";
}

function nextOf(
  failures: readonly FailedAttempt[],
  at: number,
  delivering: Partial<TracedAttempt> | undefined,
): string {
  const failed = failures[at];
  if (failed?.end !== undefined) return failed.end;
  const next = failures[at + 1]?.attempt ?? delivering;
  return wordFor(failed?.attempt.target, next?.target);
}

function wordFor(from: TracedAttempt["target"] | undefined, to: TracedAttempt["target"] | undefined): string {
  if (from?.channel.id !== to?.channel.id) return "retry";
  return from?.keyIndex === to?.keyIndex ? "same_channel" : "same_channel_other_key";
}

function isTraced(attempt: Partial<TracedAttempt> | undefined): attempt is TracedAttempt {
  return attempt?.target !== undefined && attempt.startedAt !== undefined;
}

function failedEntry({ attempt, failure, endedAt }: FailedAttempt, startedAt: number, next: string): AttemptEntry {
  const code = failure.error.code ?? "";
  return entryOf(attempt, { startedAt, endedAt, code, outcome: failure.outcome, next });
}

interface Ended {
  /** When the request started. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly code: string;
  readonly outcome: string;
  readonly next: string;
}

function entryOf(attempt: TracedAttempt, { startedAt, endedAt, code, outcome, next }: Ended): AttemptEntry {
  const { target, headAt } = attempt;
  return [
    target.channel.id,
    target.keyIndex,
    Math.round(attempt.startedAt - startedAt),
    headAt === undefined ? -1 : Math.round(headAt - attempt.startedAt),
    Math.round(endedAt - attempt.startedAt),
    attempt.status,
    code,
    outcome,
    next,
    target.upstreamModel,
    attempt.upstreamHost,
    attempt.upstreamRequestId ?? "",
  ];
}
