import type { LogExplanation } from "@fairway/wire";
import { MAX_CANDIDATES, type CandidateEntry } from "../request/traced-route.ts";
import { LONGEST_SAID } from "./own-words.ts";
import { isObject, parseObject, type JsonObject } from "../../lib/text/json.ts";

/**
 * The route of a call: `other.trace` of its log row. Lists instead of objects keep the row short, since every
 * call has a trace.
 */
export interface CallTrace {
  readonly v: 1;
  /** The rule that decided the channel. */
  readonly by: LogExplanation["route"];
  /** Milliseconds from arrival to the end. */
  readonly ms: number;
  /** Quota units that were reserved. */
  readonly r?: number | undefined;
  /** Where the price comes from. */
  readonly p?: string | undefined;
  /** Candidates: channel, group, priority, weight, why it was skipped ("" = tried), milliseconds that it rests. */
  readonly c: readonly CandidateEntry[];
  /** Candidates that did not fit. */
  readonly m?: number | undefined;
  /** Draws of a strategy: the channel that was taken, its measure (-1 = not known), and the other with its own. */
  readonly d?: readonly DrawEntry[] | undefined;
  /** Attempts: see `AttemptEntry`. */
  readonly a: readonly AttemptEntry[];
}

export type DrawEntry = readonly [taken: number, measure: number, other?: number, measure?: number];

/** An attempt whose upstream gave no message about a failure. */
export type SilentEntry = readonly [
  channel: number,
  keyIndex: number,
  startMs: number,
  firstByteMs: number,
  durationMs: number,
  status: number,
  code: string,
  outcome: string,
  next: string,
  upstreamModel: string,
  host: string,
  upstreamRequestId: string,
];

/** With the message of an upstream that failed, for operators. */
export type AttemptEntry = SilentEntry | readonly [...entry: SilentEntry, said: string];

/** Name of the member of `other`. */
export const TRACE_MEMBER = "trace";
/** Longest JSON of one trace. */
export const TRACE_BYTES = 2_048;
const MAX_ATTEMPTS = 8;
const LONGEST_TEXT = 64;
const SILENT_MEMBERS = 12;

/** Returns the trace with as many candidates and attempts as fit; long names are cut. */
export function boundedTrace(trace: CallTrace): CallTrace {
  return isSurelyShort(trace) ? trace : cutTrace(trace);
}

function cutTrace(trace: CallTrace): CallTrace {
  const c = trace.c.slice(0, MAX_CANDIDATES).map(cutCandidate);
  const d = trace.d?.slice(0, MAX_ATTEMPTS);
  let a = shortAttempts(trace.a).map(shortAttempt);
  let left = (trace.m ?? 0) + trace.c.length - c.length;
  const buildTrace = (): CallTrace => ({ ...trace, c, ...(d && { d }), a, ...(left > 0 && { m: left }) });
  while (c.length > 0 && byteLength(buildTrace()) > TRACE_BYTES) {
    c.pop();
    left += 1;
  }
  if (byteLength(buildTrace()) > TRACE_BYTES) a = a.map(withoutWords);
  return buildTrace();
}

function cutCandidate(entry: CandidateEntry): CandidateEntry {
  const [id, group, priority, weight, skipped, waitMs] = entry;
  if (group.length <= LONGEST_TEXT) return entry;
  return waitMs === undefined
    ? [id, cut(group), priority, weight, skipped]
    : [id, cut(group), priority, weight, skipped, waitMs];
}

/** More bytes than the numbers of an entry take as text. */
const NUMBERS_BYTES = 70;
/** JSON writes one character as at most six bytes. */
const MAX_BYTES = 6;

/**
 * True if nothing has to be cut, as in nearly every trace. Estimates the length: writing a trace only to measure it
 * would cost a plain call as much as the trace itself.
 */
function isSurelyShort({ c: candidates, a: attempts, d: draws }: CallTrace): boolean {
  if (draws || candidates.length > MAX_CANDIDATES || attempts.length > MAX_ATTEMPTS) return false;
  let bytes = 3 * NUMBERS_BYTES;
  for (const candidate of candidates) bytes += boundCandidate(candidate);
  for (const attempt of attempts) bytes += boundAttempt(attempt);
  return bytes <= TRACE_BYTES;
}

/** Returns the most bytes of a candidate's JSON; Infinity if a name has to be cut. */
function boundCandidate([, group, , , skipped]: CandidateEntry): number {
  return isShort(group) ? NUMBERS_BYTES + skipped.length + MAX_BYTES * group.length : Infinity;
}

/** The same for an attempt. */
function boundAttempt(entry: AttemptEntry): number {
  const [, , , , , , code, outcome, next, model, host, id, said = ""] = entry;
  if (said !== "" || !isShort(code) || !isShort(model) || !isShort(host) || !isShort(id)) return Infinity;
  const texts = code.length + model.length + host.length + id.length;
  return 2 * NUMBERS_BYTES + outcome.length + next.length + MAX_BYTES * texts;
}

/** The first attempts show how the call began, the last one how it ended. */
function shortAttempts(attempts: readonly AttemptEntry[]): readonly AttemptEntry[] {
  if (attempts.length <= MAX_ATTEMPTS) return attempts;
  return [...attempts.slice(0, MAX_ATTEMPTS - 1), ...attempts.slice(-1)];
}

function shortAttempt(entry: AttemptEntry): AttemptEntry {
  const [channel, key, start, first, duration, status, code, outcome, next, model, host, id, said] = entry;
  if (said === undefined && isShort(code) && isShort(model) && isShort(host) && isShort(id)) return entry;
  const short: SilentEntry = [
    channel,
    key,
    start,
    first,
    duration,
    status,
    cut(code),
    outcome,
    next,
    cut(model),
    cut(host),
    cut(id),
  ];
  return said === undefined ? short : [...short, said.slice(0, LONGEST_SAID)];
}

function withoutWords(entry: AttemptEntry): AttemptEntry {
  return entry.slice(0, SILENT_MEMBERS) as unknown as SilentEntry;
}

function isShort(text: string): boolean {
  return text.length <= LONGEST_TEXT;
}

function cut(text: string): string {
  return isShort(text) ? text : text.slice(0, LONGEST_TEXT);
}

function byteLength(trace: CallTrace): number {
  return Buffer.byteLength(JSON.stringify(trace));
}

/** Returns the trace in the `other` of a row; undefined if there is none that this version can read. */
export function traceIn(other: JsonObject | undefined): CallTrace | undefined {
  const trace = other?.[TRACE_MEMBER];
  if (!isObject(trace) || trace["v"] !== 1 || !Array.isArray(trace["c"]) || !Array.isArray(trace["a"]))
    return undefined;
  return trace as unknown as CallTrace;
}

/** Returns `other` without its trace, which lists do not include. */
export function withoutTrace(other: string): string {
  if (!other.includes(`"${TRACE_MEMBER}":`)) return other;
  const members = parseObject(other);
  if (!members) return other;
  delete members[TRACE_MEMBER];
  return JSON.stringify(members);
}
