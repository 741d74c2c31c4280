import { LOG_TYPE } from "@fairway/wire";
import type { Selectable } from "kysely";
import { parseObject, type JsonObject } from "../../lib/text/json.ts";
import { traceIn } from "../../relay/trace/call-trace.ts";
import type { LogTable } from "../../storage/tables/schema.ts";
import { readBatchedCalls } from "../../batches/results/log-detail.ts";
import { DAY, DIMENSION, HOUR, type DimensionNumber } from "./dimensions.ts";
import { observe } from "./histogram.ts";
import { emptySums, type Sums } from "./sums.ts";

/** Columns of a log row that the sums need. */
export const GATHERED = [
  "id",
  "type",
  "user_id",
  "token_id",
  "channel_id",
  "username",
  "token_name",
  "group",
  "model_name",
  "quota",
  "prompt_tokens",
  "completion_tokens",
  "use_time",
  "created_at",
  "other",
  "actor",
  "tags",
  "end_user",
] as const;

export type GatheredLog = Pick<Selectable<LogTable>, (typeof GATHERED)[number]>;

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

export function gather(rows: readonly GatheredLog[]): Gathered {
  const gathered: Gathered = new Map();
  for (const row of rows) if (row.type === LOG_TYPE.consume || row.type === LOG_TYPE.error) addRow(gathered, row);
  return gathered;
}

function addRow(gathered: Gathered, row: GatheredLog): void {
  const other = parseObject(row.other) ?? {};
  const batched = row.type === LOG_TYPE.consume ? readBatchedCalls(other) : undefined;
  if (!batched) return addFactsOfRow(gathered, row, { other, facts: readFacts(row, other) });
  // One row stands for all items of a batch. It has no latency: a batch waits for hours.
  const plain = { quota: 0, input: 0, output: 0, latencyMs: -1, firstTokenMs: -1 };
  const charged = { ...plain, quota: row.quota, input: row.prompt_tokens, output: row.completion_tokens };
  addFactsOfRow(gathered, row, { other, facts: { ...charged, verdict: "ok", calls: batched.succeeded } });
  if (batched.failed > 0)
    addFactsOfRow(gathered, row, { other, facts: { ...plain, verdict: "error", calls: batched.failed } });
}

interface RowFacts {
  readonly other: JsonObject;
  readonly facts: Facts;
}

function addFactsOfRow(gathered: Gathered, row: GatheredLog, { other, facts }: RowFacts): void {
  const user = String(row.user_id);
  const at = (dimension: DimensionNumber, ownerId: number, subject: string, one: Facts = facts) =>
    addAt(gathered, { dimension, ownerId, subject, time: row.created_at }, one);
  at(DIMENSION.all, 0, "");
  at(DIMENSION.user, row.user_id, user);
  at(DIMENSION.group, 0, row.group);
  at(DIMENSION.model, 0, row.model_name);
  at(DIMENSION.userModel, row.user_id, row.model_name);
  if (row.token_id > 0) at(DIMENSION.token, row.user_id, String(row.token_id));
  for (const [channel, one] of listAttempts(row, other, facts)) {
    at(DIMENSION.channel, 0, String(channel), one);
    at(DIMENSION.attempts, 0, "", one);
  }
}

function readFacts(row: GatheredLog, other: JsonObject): Facts {
  const reason = row.type === LOG_TYPE.error ? other["outcome"] : (other["end_reason"] ?? "stop");
  const verdict = toVerdict(typeof reason === "string" ? reason : "internal");
  const isOk = verdict === "ok";
  return {
    verdict,
    calls: Math.max(1, readInteger(other["repeated"], 1)),
    quota: row.quota,
    input: row.prompt_tokens,
    output: row.completion_tokens,
    latencyMs: isOk ? (traceIn(other)?.ms ?? row.use_time * 1000) : -1,
    firstTokenMs: isOk ? readInteger(other["frt"], -1) : -1,
  };
}

function toVerdict(reason: string): Verdict {
  if (reason === "stop" || reason === "ok") return "ok";
  if (reason === "client_abort") return "left";
  return REFUSED.has(reason) ? "refused" : "error";
}

/** Returns the attempts of a row. A call that failed at one channel and succeeded at another counts for both. */
function listAttempts(row: GatheredLog, other: JsonObject, facts: Facts): [channel: number, facts: Facts][] {
  const attempts = traceIn(other)?.a ?? [];
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

function addAt(gathered: Gathered, { dimension, ownerId, subject, time }: SlotKey, facts: Facts): void {
  // MariaDB compares texts without trailing spaces.
  const name = subject.slice(0, LONGEST_SUBJECT).trimEnd();
  for (const span of [HOUR, DAY]) {
    const start = time - (time % span);
    const key = `${span} ${dimension} ${ownerId} ${start} ${name}`;
    let slot = gathered.get(key);
    if (!slot) gathered.set(key, (slot = { span, dimension, ownerId, subject: name, start, sums: emptySums() }));
    addFacts(slot.sums, facts);
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
