import {
  LOG_TYPE,
  ExplainedBudget,
  LogFallback,
  type ExplainedAttempt,
  type ExplainedCandidate,
  type ExplainedDraw,
  type LogExplanation,
  type SkipReason,
  type UsageDoubt,
} from "@fairway/wire";
import { isObject, parseObject, type JsonObject } from "../../lib/text/json.ts";
import { summarizeBatch } from "../../batches/results/log-detail.ts";
import { traceIn, type AttemptEntry, type CallTrace, type DrawEntry } from "../../relay/trace/call-trace.ts";
import type { CandidateEntry } from "../../relay/request/traced-route.ts";
import { explainPrice } from "./explain-price.ts";
import type { StoredLog } from "./view.ts";

export interface ExplainView {
  readonly channelNames: ReadonlyMap<number, string>;
  /** True for owners, who see no channels. */
  readonly isOwner: boolean;
}

/** Returns the ids of the channels in a row's trace. */
export function tracedChannels({ other }: StoredLog): number[] {
  const trace = traceIn(parseObject(other));
  if (!trace) return [];
  return [...new Set([...trace.c, ...trace.a].map(([id]) => id))].filter((id) => Number.isSafeInteger(id) && id > 0);
}

/** Explains a row from its own record; the current configuration is not read. */
export function explain(row: StoredLog, view: ExplainView): LogExplanation {
  const other = parseObject(row.other) ?? {};
  const trace = traceIn(other);
  const completion = readCompletion(row, other);
  return {
    request_id: row.request_id,
    created_at: row.created_at,
    type: row.type,
    model: row.model_name,
    group: row.group,
    is_recorded: trace !== undefined,
    ...completion,
    summary: summarizeLog(row, other, completion.outcome),
    ...explainRoute(trace, view),
    fallback: LogFallback.safeParse(other["fallback"]).data ?? null,
    queue_ms: int(other["queue_ms"]),
    first_token_ms: Math.max(-1, int(other["frt"], -1)),
    total_ms: totalMs(row, trace),
    price: explainPrice(row, other, trace),
    losses: texts(other["dropped_params"]),
    usage_doubts: listUsageDoubts(other, view),
    guardrail: text(other["guardrail"]),
    ...(view.isOwner ? { guardrail_reason: "", budget: null } : explainStop(other)),
    cache: { is_hit: other["cache_hit"] === true, age_seconds: int(other["cache_age"]) },
    ...explainMarks(other),
  };
}

function explainMarks(other: JsonObject): Pick<LogExplanation, "prompt_cache"> {
  const marks = other["cache_marks"];
  if (!isObject(marks)) return {};
  const { n, ttl, why } = marks;
  return { prompt_cache: { marks: int(n), ttl: text(ttl), why: text(why), saved: int(other["cache_saved"]) } };
}

/** Explains where the call went. */
function explainRoute(
  trace: CallTrace | undefined,
  view: ExplainView,
): Pick<LogExplanation, "route" | "candidates" | "draws" | "more_candidates" | "attempts"> {
  if (!trace) return { route: "none", candidates: [], draws: [], more_candidates: 0, attempts: [] };
  const { by: route, c, d = [], m = 0, a } = trace;
  const candidates = view.isOwner ? [] : c.map((entry) => explainCandidate(entry, view));
  return {
    route,
    candidates,
    draws: view.isOwner ? [] : d.map(explainDraw),
    more_candidates: view.isOwner ? 0 : m,
    attempts: a.map((entry) => explainAttempt(entry, view)),
  };
}

type Completion = Pick<LogExplanation, "outcome" | "status" | "code">;

/** Responses that reached the client but ended early, in the words of the metrics. */
const OUTCOMES: Readonly<Record<string, string>> = {
  stop: "ok",
  client_abort: "client_abort",
  idle_timeout: "timeout",
  quota_exhausted: "quota",
  guardrail: "client_error",
  upstream_cut: "upstream_error",
  upstream_error: "upstream_error",
  server_shutdown: "server_shutdown",
  internal_error: "internal",
};

function readCompletion({ type, is_stream: isStream }: StoredLog, other: JsonObject): Completion {
  if (type === LOG_TYPE.error)
    return { outcome: text(other["outcome"]), status: int(other["status_code"]), code: text(other["error_code"]) };
  const reason = text(other["end_reason"]) || "stop";
  const status = reason === "guardrail" && !isStream ? refusedStatus(other) : 200;
  return { outcome: OUTCOMES[reason] ?? "internal", status, code: reason === "stop" ? "" : reason };
}

/**
 * Returns the status of a refusal. A whole response that the guardrail stopped was never sent; a stream had already
 * sent its head.
 */
function refusedStatus(other: JsonObject): number {
  return other["guardrail"] === "failed" ? 503 : 400;
}

/** Explanations of codes for how a response ended, because the content shows only the code. */
const ENDS: Readonly<Record<string, string>> = {
  client_abort: "The client left before the answer was complete; what it got was charged.",
  idle_timeout: "The upstream fell silent in the middle of its answer; what arrived was charged.",
  quota_exhausted: "The balance or a budget was used up while the answer was written; what arrived was charged.",
  guardrail: "The guardrail stopped the answer; what was generated until then was charged.",
  upstream_cut: "The upstream cut its answer off; what arrived was charged.",
  upstream_error: "The upstream failed in the middle of its answer; what arrived was charged.",
  server_shutdown: "The gateway restarted while the answer was written; what arrived was charged.",
  internal_error: "The gateway failed while the answer was written; what arrived was charged.",
};

/** The limit that ended a response; rows of older versions do not record it. */
const USED_UP: Readonly<Record<string, string>> = {
  balance: "The balance or the token's quota was used up while the answer was written; what arrived was charged.",
  budget: "A budget was used up while the answer was written; what arrived was charged.",
};

function summarizeLog(row: StoredLog, other: JsonObject, outcome: string): string {
  if (row.type === LOG_TYPE.error) return row.content;
  const batch = row.type === LOG_TYPE.consume ? summarizeBatch(other) : undefined;
  return batch ?? summarizeCall(row, other, outcome);
}

function summarizeCall(row: StoredLog, other: JsonObject, outcome: string): string {
  if (other["cache_hit"] === true) return "Answered from the response cache; no upstream was called.";
  const end = USED_UP[text(other["used_up"])] ?? ENDS[text(other["end_reason"])];
  if (end) return end;
  const hops = summarizeHops(row.model_name, other);
  if (hops !== undefined) return hops;
  const tried = traceIn(other)?.a.length ?? 0;
  if (tried > 1) return `Answered by attempt ${tried}; the ones before it failed.`;
  return outcome === "ok" && row.type === LOG_TYPE.consume ? "Answered by the first attempt." : row.content;
}

function summarizeHops(model: string, other: JsonObject): string | undefined {
  const fallback = LogFallback.safeParse(other["fallback"]).data;
  if (!fallback) return undefined;
  const { from, hops, reason } = fallback;
  if (hops.every(({ outcome }) => outcome === "sticky"))
    return `Answered by ${model}, with which the conversation stays in place of ${from}.`;
  if (model === from || hops.every((hop) => hop.is_skipped)) return undefined;
  return `Answered by ${model} in place of ${from}, which was left: ${reason}.`;
}

function explainCandidate(
  [channel, group, priority, weight, skipped, waitMs]: CandidateEntry,
  { channelNames }: ExplainView,
): ExplainedCandidate {
  return {
    channel,
    channel_name: channelNames.get(channel) ?? "",
    group,
    priority,
    weight,
    is_tried: skipped === "",
    ...(skipped !== "" && { skipped: skipped as SkipReason }),
    ...(waitMs !== undefined && { wait_ms: waitMs }),
  };
}

function explainDraw([taken, measure, other, otherMeasure]: DrawEntry): ExplainedDraw {
  const known = (value = -1) => (value < 0 ? null : value);
  return {
    taken,
    taken_measure: known(measure),
    ...(other !== undefined && { other, other_measure: known(otherMeasure) }),
  };
}

function explainAttempt(entry: AttemptEntry, { channelNames, isOwner }: ExplainView): ExplainedAttempt {
  const [channel, keyIndex, start, first, duration, status, code, outcome, next, model, host, id, said] = entry;
  const place = isOwner
    ? { channel: 0, channel_name: "", key_index: -1, upstream_model: "", upstream_host: "", upstream_request_id: "" }
    : {
        channel,
        channel_name: channelNames.get(channel) ?? "",
        key_index: keyIndex,
        upstream_model: model,
        upstream_host: host,
        upstream_request_id: id,
        ...(said !== undefined && { upstream_message: said }),
      };
  return {
    ...place,
    start_ms: start,
    first_byte_ms: first,
    duration_ms: duration,
    status,
    code: isOwner && code.startsWith("upstream_") ? "upstream_error" : code,
    outcome,
    next: next as ExplainedAttempt["next"],
  };
}

function totalMs({ use_time: seconds, other }: StoredLog, trace: CallTrace | undefined): number {
  return trace?.ms ?? int(parseObject(other)?.["ms"], seconds * 1000);
}

/** Returns the details of a guardrail verdict and of an exhausted budget for administrators. */
function explainStop(other: JsonObject): Pick<LogExplanation, "guardrail_reason" | "budget"> {
  const part = isObject(other["admin_info"]) ? other["admin_info"] : {};
  const budget = ExplainedBudget.safeParse(part["budget"]);
  return { guardrail_reason: text(part["guardrail_reason"]), budget: budget.success ? budget.data : null };
}

/** Returns doubts about the usage. Owners see which rule was used; only operators see what an upstream reported. */
function listUsageDoubts(other: JsonObject, { isOwner }: ExplainView): UsageDoubt[] {
  const part = isObject(other["admin_info"]) ? other["admin_info"] : {};
  const reported = isObject(part["doubted_usage"]) && !isOwner ? part["doubted_usage"] : {};
  return texts(other["usage_doubts"]).map((rule) => {
    const figure = reported[rule];
    return { rule, reported: typeof figure === "number" ? String(figure) : text(figure) };
  });
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function int(value: unknown, fallback = 0): number {
  return typeof value === "number" && Number.isSafeInteger(value) ? value : fallback;
}
