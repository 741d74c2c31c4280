import type { ChannelStrategy, LogExplanation } from "@fairway/wire";
import type { FinishReason } from "../upstream/attempt-result.ts";
import type { RelayRequest } from "../request/request.ts";
import { ownWords } from "./own-words.ts";
import type {
  FailedAttempt,
  TracedAttempt,
  CandidateEntry,
  ChannelDraw,
  TracedCandidates,
} from "../request/traced-route.ts";
import { boundedTrace, type AttemptEntry, type DrawEntry, type SilentEntry, type CallTrace } from "./call-trace.ts";

/** What a charged request reserved, and where its price comes from. */
export interface TracedCharge {
  /** How the answer ended. */
  readonly reason: FinishReason;
  readonly reserved: number;
  readonly priceSource: string;
}

const NO_CANDIDATES: TracedCandidates = { entries: [], open: 0, total: 0 };

/** Returns the route of a request that failed, or that `delivering` answered. */
export function buildTrace(
  request: RelayRequest,
  delivering?: Partial<TracedAttempt>,
  charge?: TracedCharge,
): CallTrace {
  const { startedAt, progress } = request;
  const { failures } = progress;
  const now = performance.now();
  const a = failures.map((failed, at) => failedEntry(failed, request, resolveNextStep(failures, at, delivering)));
  if (isTraced(delivering)) a.push(buildEntry(delivering, { startedAt, endedAt: now, ...toTraceEnd(charge?.reason) }));
  const { entries, open, total, strategy, draws } = progress.channels?.candidates() ?? NO_CANDIDATES;
  const isRefused = a.length === 0;
  const c = isRefused ? entries.map(refused) : entries;
  return boundedTrace({
    v: 1,
    by: isRefused ? "none" : resolveRoute(request, open, strategy),
    ms: Math.round(now - startedAt),
    r: charge?.reserved,
    p: charge?.priceSource,
    c,
    d: draws?.map(toDrawEntry),
    m: total > c.length ? total - c.length : undefined,
    a,
  });
}

/** Returns the entry of a channel that was chosen for a call that never began. */
function refused(entry: CandidateEntry): CandidateEntry {
  const [channel, group, priority, weight, skipped] = entry;
  return skipped === "" ? [channel, group, priority, weight, "refused"] : entry;
}

const UNKNOWN = -1;
/** Digits behind the point of a measure, which keep the row short. */
const MEASURE_DIGITS = 3;

function toDrawEntry([taken, measure, other, otherMeasure]: ChannelDraw): DrawEntry {
  const round = (value = UNKNOWN) => Number(value.toFixed(MEASURE_DIGITS));
  return other === undefined ? [taken, round(measure)] : [taken, round(measure), other, round(otherMeasure)];
}

type End = Pick<Ended, "code" | "outcome" | "next">;

const DELIVERED: End = { code: "", outcome: "ok", next: "" };

/** Answers that the upstream broke off; no other channel can continue what the client already has. */
const BROKEN: Readonly<Partial<Record<FinishReason, End>>> = {
  upstream_cut: { code: "upstream_cut", outcome: "upstream_error", next: "begun" },
  upstream_error: { code: "upstream_error", outcome: "upstream_error", next: "begun" },
  idle_timeout: { code: "idle_timeout", outcome: "timeout", next: "begun" },
};

function toTraceEnd(reason: FinishReason = "stop"): End {
  return BROKEN[reason] ?? DELIVERED;
}

function resolveRoute(
  { caller, pinnedAccount, progress }: RelayRequest,
  open: number,
  strategy: ChannelStrategy = "weight",
): LogExplanation["route"] {
  if (!progress.channels) return "none";
  if (pinnedAccount) return "account";
  if (caller.pinnedChannel !== undefined) return "pin";
  if (progress.isAffine) return "affinity";
  return open > 1 ? strategy : "only";
}

function resolveNextStep(
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

function failedEntry(
  { attempt, failure, endedAt }: FailedAttempt,
  { startedAt, body }: RelayRequest,
  next: string,
): AttemptEntry {
  const code = failure.error.code ?? "";
  const entry = buildEntry(attempt, { startedAt, endedAt, code, outcome: failure.outcome, next });
  const said = failure.said === undefined ? "" : ownWords(failure.said, body.bytes);
  return said === "" ? entry : [...entry, said];
}

/** Returns the last message of an upstream of a failed call, for operators. */
export function saidByUpstream({ progress, body }: RelayRequest): { upstream_message?: string } {
  const said = progress.failures.at(-1)?.failure.said;
  return said === undefined ? {} : { upstream_message: ownWords(said, body.bytes) };
}

interface Ended {
  /** When the request started. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly code: string;
  readonly outcome: string;
  readonly next: string;
}

function buildEntry(attempt: TracedAttempt, { startedAt, endedAt, code, outcome, next }: Ended): SilentEntry {
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
