import { LOG_TYPE } from "@fairway/wire";
import type { JsonObject } from "../../lib/text/json.ts";
import { traceIn } from "../../relay/trace/call-trace.ts";
import { readBatchedCalls } from "../../batches/results/log-detail.ts";
import type { AlikeRows, DetailedRow, GatheredLog } from "./alike-rows.ts";
import { DAY, DIMENSION, HOUR, type DimensionNumber } from "./dimensions.ts";
import { observe } from "./histogram.ts";
import { addSums, emptySums, type Sums } from "./sums.ts";

export interface Slot {
  readonly span: number;
  readonly dimension: DimensionNumber;
  readonly ownerId: number;
  readonly subject: string;
  readonly start: number;
  readonly sums: Sums;
}

export type Gathered = Map<string, Slot>;

type Verdict = "ok" | "error" | "refused" | "left";

/** The amounts that a row, or one of its attempts, adds to each of its subjects. */
interface Facts {
  readonly verdict: Verdict;
  readonly calls: number;
  readonly quota: number;
  readonly input: number;
  readonly output: number;
  /** Negative = not measured. */
  readonly latencyMs: number;
  readonly firstTokenMs: number;
}

const LONGEST_SUBJECT = 255;
/** Codes and outcomes caused by the client, or by one of its own limits. */
const REFUSED = new Set([
  "client_error",
  "auth",
  "quota",
  "rate_limited",
  "model_not_found",
  "quota_exhausted",
  "guardrail",
]);

/** Sums the calls of groups by each of their subjects. */
export function gather(groups: readonly AlikeRows[]): Gathered {
  const gathered: Gathered = new Map();
  for (const group of groups)
    if (group.first.type === LOG_TYPE.consume || group.first.type === LOG_TYPE.error) addGroup(gathered, group);
  return gathered;
}

function addGroup(gathered: Gathered, { first, rows }: AlikeRows): void {
  const calls = emptySums();
  const channels = new Map<number, Sums>();
  for (const row of rows) {
    for (const facts of listFacts(row)) {
      addFacts(calls, facts);
      for (const [channel, one] of listAttempts(row, facts)) {
        let attempts = channels.get(channel);
        if (!attempts) channels.set(channel, (attempts = emptySums()));
        addFacts(attempts, one);
      }
    }
  }
  const at = (dimension: DimensionNumber, ownerId: number, subject: string, sums = calls) =>
    addAt(gathered, { dimension, ownerId, subject, time: first.created_at }, sums);
  at(DIMENSION.all, 0, "");
  at(DIMENSION.user, first.user_id, String(first.user_id));
  at(DIMENSION.group, 0, first.group);
  at(DIMENSION.model, 0, first.model_name);
  at(DIMENSION.userModel, first.user_id, first.model_name);
  if (first.token_id > 0) at(DIMENSION.token, first.user_id, String(first.token_id));
  for (const [channel, attempts] of channels) {
    at(DIMENSION.channel, 0, String(channel), attempts);
    at(DIMENSION.attempts, 0, "", attempts);
  }
}

/** Returns what a row adds: one row stands for all items of a batch, which fail or succeed each by itself. */
function listFacts({ row, detail }: DetailedRow): Facts[] {
  const batched = row.type === LOG_TYPE.consume ? readBatchedCalls(detail) : undefined;
  if (!batched) return [readFacts(row, detail)];
  // It has no latency: a batch waits for hours.
  const plain = { quota: 0, input: 0, output: 0, latencyMs: -1, firstTokenMs: -1 };
  const charged = { ...plain, quota: row.quota, input: row.prompt_tokens, output: row.completion_tokens };
  const succeeded: Facts = { ...charged, verdict: "ok", calls: batched.succeeded };
  return batched.failed > 0 ? [succeeded, { ...plain, verdict: "error", calls: batched.failed }] : [succeeded];
}

function readFacts(row: GatheredLog, detail: JsonObject): Facts {
  const reason = row.type === LOG_TYPE.error ? detail["outcome"] : (detail["end_reason"] ?? "stop");
  const verdict = toVerdict(typeof reason === "string" ? reason : "internal");
  const isOk = verdict === "ok";
  return {
    verdict,
    calls: Math.max(1, readInteger(detail["repeated"], 1)),
    quota: row.quota,
    input: row.prompt_tokens,
    output: row.completion_tokens,
    latencyMs: isOk ? (traceIn(detail)?.ms ?? row.use_time * 1000) : -1,
    firstTokenMs: isOk ? readInteger(detail["frt"], -1) : -1,
  };
}

function toVerdict(reason: string): Verdict {
  if (reason === "stop" || reason === "ok") return "ok";
  if (reason === "client_abort") return "left";
  return REFUSED.has(reason) ? "refused" : "error";
}

/** Returns the attempts of a row. A call that failed at one channel and succeeded at another counts for both. */
function listAttempts({ row, detail }: DetailedRow, facts: Facts): [channel: number, facts: Facts][] {
  const attempts = traceIn(detail)?.a ?? [];
  if (attempts.length === 0) return row.channel_id > 0 ? [[row.channel_id, facts]] : [];
  return attempts.map(([channel, , , , durationMs, , , outcome]) => {
    if (outcome === "ok") return [channel, { ...facts, latencyMs: facts.latencyMs < 0 ? -1 : durationMs }];
    const failed = { calls: 1, quota: 0, input: 0, output: 0, latencyMs: -1, firstTokenMs: -1 };
    return [channel, { ...failed, verdict: toVerdict(outcome) }];
  });
}

interface SlotKey {
  readonly dimension: DimensionNumber;
  readonly ownerId: number;
  readonly subject: string;
  readonly time: number;
}

function addAt(gathered: Gathered, { dimension, ownerId, subject, time }: SlotKey, sums: Sums): void {
  // MariaDB compares texts without trailing spaces.
  const name = subject.slice(0, LONGEST_SUBJECT).trimEnd();
  for (const span of [HOUR, DAY]) {
    const start = time - (time % span);
    const key = `${span} ${dimension} ${ownerId} ${start} ${name}`;
    let slot = gathered.get(key);
    if (!slot) gathered.set(key, (slot = { span, dimension, ownerId, subject: name, start, sums: emptySums() }));
    addSums(slot.sums, sums);
  }
}

function addFacts(sums: Sums, { verdict, calls, quota, input, output, latencyMs, firstTokenMs }: Facts): void {
  sums.calls += calls;
  if (verdict === "error") sums.errors += calls;
  if (verdict === "refused") sums.refused += calls;
  sums.quota += quota;
  sums.input_tokens += input;
  sums.output_tokens += output;
  if (latencyMs >= 0) observe(sums.latency, latencyMs);
  if (firstTokenMs >= 0) observe(sums.first_token, firstTokenMs);
}

function readInteger(value: unknown, fallback: number): number {
  return typeof value === "number" && Number.isSafeInteger(value) ? value : fallback;
}
