import * as z from "zod/mini";
import { textUpTo } from "../core/characters.ts";
import { BUDGET_PERIODS, BUDGET_SCOPES } from "../core/budget-terms.ts";
import { endpoint } from "../core/endpoint.ts";
import { idParams } from "../core/envelope.ts";
import { CHANNEL_STRATEGIES } from "../core/strategies.ts";

/** Members of `other` in a row of type 5, a failed call. */
export const LogErrorDetail = z.object({
  /** HTTP status that the client got. */
  status_code: z.int(),
  /** Code that the client got, such as `rate_limit_exceeded`; "" if an upstream sent none. */
  error_code: z.string(),
  /** Who is at fault: `client`, `gateway` or `upstream`. */
  error_type: z.string(),
  /** How the call ended, as in the metrics: `quota`, `rate_limited`, `upstream_error`, … */
  outcome: z.string(),
  /** Milliseconds from arrival to the error. */
  ms: z.int(),
  /** Path of the call, without its query. */
  request_path: z.string(),
  /** Number of upstream calls. */
  attempts: z.int(),
  /** Number of further errors of the same token and code that the row represents. */
  repeated: z.optional(z.int()),
});
export type LogErrorDetail = z.output<typeof LogErrorDetail>;

/** Why a channel was not chosen, or was given up. */
export const SkipReason = z.enum([
  /** Disabled, by hand or by the system. */
  "status",
  /** Serves the model only in other groups. */
  "group",
  /** The prompt is longer than the channel accepts. */
  "input_size",
  /** The channel cannot serve this operation. */
  "unsupported",
  /** A limit of the channel or of its key has been reached. */
  "limit",
  "budget",
  /** All its keys failed so often that they are skipped. */
  "breaker",
  /** All its keys are resting after a 429. */
  "cooldown",
  /** Another channel of the same or a higher priority was drawn. */
  "not_drawn",
  /** It was drawn too, or considered, and another one was less busy, faster or cheaper. */
  "not_better",
  /** The conversation belongs to another channel. */
  "affinity",
  /** The request or its key specifies another channel. */
  "pin",
  /** It was chosen, but the request was refused before the channel was called. */
  "refused",
]);
export type SkipReason = z.output<typeof SkipReason>;

export const ExplainedCandidate = z.object({
  /** 0 and "" for owners. */
  channel: z.int(),
  channel_name: z.string(),
  group: z.string(),
  priority: z.int(),
  weight: z.int(),
  /** True if an attempt was made with it. */
  is_tried: z.boolean(),
  /** Undefined for channels that were tried. */
  skipped: z.optional(SkipReason),
  /** Milliseconds until it may be used again; only for `breaker` and `cooldown`. */
  wait_ms: z.optional(z.int()),
});
export type ExplainedCandidate = z.output<typeof ExplainedCandidate>;

const measure = z.nullable(z.number());

/** One draw of a strategy; there is no other channel if only one could serve, and for `cost`. */
export const ExplainedDraw = z.object({
  /** The channel that was taken. */
  taken: z.int(),
  /** Its measure: running requests by weight + 10, milliseconds, or the cost ratio; null = not known. */
  taken_measure: measure,
  /** The channel that was drawn too and was not better. */
  other: z.optional(z.int()),
  /** Its measure. */
  other_measure: z.optional(measure),
});
export type ExplainedDraw = z.output<typeof ExplainedDraw>;

/** One call of an upstream. Owners see neither the channel and key nor the upstream's model and host. */
export const ExplainedAttempt = z.object({
  channel: z.int(),
  channel_name: z.string(),
  /** Index of the key in the channel's key text, from 0; -1 for owners. */
  key_index: z.int(),
  /** Model name that was sent to the upstream. */
  upstream_model: z.string(),
  /** Host that was called. */
  upstream_host: z.string(),
  /** Id that the upstream assigned to the call; "" if it assigns none. */
  upstream_request_id: z.string(),
  /** Milliseconds since the request arrived. */
  start_ms: z.int(),
  /** Milliseconds from the start to the first byte of the response head; -1 = none arrived. */
  first_byte_ms: z.int(),
  /** Milliseconds from the start to the end of the attempt. */
  duration_ms: z.int(),
  /** Status of the upstream; 0 = it did not respond. */
  status: z.int(),
  /** Code of the failure, or of the early end of a response; "" for a successful attempt. */
  code: z.string(),
  /**
   * The upstream's message about its failure, without secrets and addresses; absent for owners and if there was none.
   */
  upstream_message: z.optional(z.string()),
  /** `ok`, or how it failed, as in the metrics. */
  outcome: z.string(),
  /** Why the next channel was tried or none was; "" for the successful attempt. */
  next: z.enum([
    "",
    "retry",
    "same_channel",
    "same_channel_other_key",
    /** The same request would fail in the same way on any channel. */
    "not_retryable",
    "retries_used",
    /** RetryTimes is 0. */
    "retries_off",
    /** The request may go to no other channel. */
    "bound",
    "too_late",
    "none_left",
    /** The client had already received a part of the response. */
    "begun",
  ]),
});
export type ExplainedAttempt = z.output<typeof ExplainedAttempt>;

/** One factor of a price and its source. */
export const PriceInput = z.object({
  /** `input_tokens`, `model_ratio`, `group_ratio`, … */
  name: z.string(),
  value: z.number(),
  /** `upstream`, `counted`, `mixed`, `option ModelRatio`, `default`, … */
  source: z.string(),
});
export type PriceInput = z.output<typeof PriceInput>;

export const ExplainedPrice = z.object({
  /** `none`: nothing was charged. */
  kind: z.enum(["tokens", "call", "none"]),
  /** Formula in the names of `inputs`; "" for `none`. */
  formula: z.string(),
  /** Every factor of the formula. */
  inputs: z.array(PriceInput),
  /** Quota units reserved before the call; -1 = not recorded. */
  reserved: z.int(),
  /** Quota units. */
  charged: z.int(),
});
export type ExplainedPrice = z.output<typeof ExplainedPrice>;

/** The budget that ended a call. */
export const ExplainedBudget = z.object({
  id: z.int(),
  scope: z.enum(BUDGET_SCOPES),
  /** Id or name of the budget's subject. */
  subject: z.string(),
  /** Name of the subject at that time; "" in rows of older versions. */
  subject_name: z._default(z.string(), ""),
  period: z.enum(BUDGET_PERIODS),
  /** Hours of a window of the period `hours`; otherwise 0. */
  length: z._default(z.int(), 0),
  /** Quota units of one period. */
  quota_limit: z.int(),
});
export type ExplainedBudget = z.output<typeof ExplainedBudget>;

/** The models that a call went through; `other.fallback` of its row. */
export const LogFallback = z.object({
  /** The model that the client asked for. */
  from: z.string(),
  /** Why the call left it: `overloaded`, `timeout`, `context`, `content`, `budget`, `limit`, … */
  reason: z.string(),
  /** Models that were left or left out, in order; the one that served is the model of the row. */
  hops: z.array(
    z.object({
      model: z.string(),
      /** Why it was left, or the code by which it refused the call. */
      outcome: z.string(),
      /** True if it was not called. */
      is_skipped: z.boolean(),
    }),
  ),
});
export type LogFallback = z.output<typeof LogFallback>;

/** A value of the upstream's usage that cannot be correct. */
export const UsageDoubt = z.object({
  /** What was charged instead, as in docs/explain/billing.md: `output_counted`, `cached_over_input`, … */
  rule: z.string(),
  /** The value that the upstream reported; "" for owners, and if it reported none. */
  reported: z.string(),
});
export type UsageDoubt = z.output<typeof UsageDoubt>;

/** Why one request failed or succeeded, how its channel was chosen, and what it cost, as recorded when it ran. */
export const LogExplanation = z.object({
  request_id: z.string(),
  created_at: z.int(),
  type: z.int(),
  model: z.string(),
  group: z.string(),
  /** False for rows without a recorded route: rows of older versions and rows that are not calls. */
  is_recorded: z.boolean(),
  /** `ok`, or how it ended, as in the metrics. */
  outcome: z.string(),
  /** HTTP status of the response to the client. */
  status: z.int(),
  /** Code of the client's error; "" for a success. */
  code: z.string(),
  /** One sentence that says what happened. */
  summary: z.string(),
  /** What determined the channel. `none`: no channel was called. */
  route: z.enum(["only", ...CHANNEL_STRATEGIES, "affinity", "pin", "account", "cache", "none"]),
  /** Candidates in the order of priority. */
  candidates: z.array(ExplainedCandidate),
  /** What a strategy other than `weight` compared, oldest draw first; absent in answers of older gateways. */
  draws: z.optional(z.array(ExplainedDraw)),
  /** Number of candidates that are not listed, because there are too many. */
  more_candidates: z.int(),
  /** Set if the call looked for another model than the requested one; `candidates` are those of the last model. */
  fallback: z._default(z.nullable(LogFallback), null),
  /** Upstream calls, oldest first. */
  attempts: z.array(ExplainedAttempt),
  /** Milliseconds that the call waited for a channel. */
  queue_ms: z.int(),
  /** Milliseconds from arrival to the first content; negative if not measured. */
  first_token_ms: z.int(),
  /** Milliseconds from arrival to the end. */
  total_ms: z.int(),
  price: ExplainedPrice,
  /** Members of the request that the conversion removed. */
  losses: z.array(z.string()),
  /** Values of the upstream's usage that were not accepted. */
  usage_doubts: z._default(z.array(UsageDoubt), []),
  /** Verdict of the guardrail; "" if it did not act. */
  guardrail: z.string(),
  /** Reason given by the guardrail; "" for owners. */
  guardrail_reason: z.string(),
  /** The budget that refused or ended the call; null if there was none, and for owners. */
  budget: z.nullable(ExplainedBudget),
  /** Whether the response came from the response cache, and how old it was. */
  cache: z.object({ is_hit: z.boolean(), age_seconds: z.int() }),
  /** The marks that the gateway set for the vendor's prompt cache; absent if it set none. */
  prompt_cache: z.optional(
    z.object({
      marks: z.int(),
      /** How long the vendor stores the prefix: `5m`, `1h` or `30m`. */
      ttl: z.string(),
      /** `always`, `history`, `seen`, or `key` if only `prompt_cache_key` was added. */
      why: z.string(),
      /** Quota units that the cache saved; below 0 if writing it cost more than reading saved. */
      saved: z.int(),
    }),
  ),
});
export type LogExplanation = z.output<typeof LogExplanation>;

export const logExplain = endpoint({
  name: "logExplain",
  method: "GET",
  path: "/api/log/{id}/explain",
  access: "admin",
  summary: "Explains one call: route, attempts, price. `{id}` is the id of a log row.",
  params: idParams,
  data: LogExplanation,
  fails: ["log_not_found", "log_unreachable"],
});

export const logExplainSelf = endpoint({
  name: "logExplainSelf",
  method: "GET",
  path: "/api/log/self/{request}/explain",
  access: "user",
  summary: "Explains the caller's call of one request id, without channels.",
  params: z.object({ request: textUpTo(64) }),
  data: LogExplanation,
  fails: ["log_not_found", "log_unreachable"],
});
