import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { queryInt, queryText } from "../core/envelope.ts";
import { pageFields } from "../core/paging.ts";

/**
 * `creating` until the provider is known to have it, `open` while the provider works on it, `ended` until it is booked,
 * then `settled`; `refused` if it never ran, `stuck` if its results cannot be read.
 */
export const BATCH_PHASES = ["creating", "open", "ended", "settled", "refused", "stuck"] as const;
export type BatchPhaseName = (typeof BATCH_PHASES)[number];

export const BATCH_OUTCOMES = ["", "completed", "failed", "expired", "cancelled"] as const;
export type BatchOutcome = (typeof BATCH_OUTCOMES)[number];

/** The requests of one model in a batch. */
export const BatchedModel = z.object({
  items: z.int(),
  /** Quota units. */
  estimate: z.int(),
  prompt_tokens: z.int(),
  /** Requests without a limit of their output. */
  uncapped: z.int(),
});
export type BatchedModel = z.output<typeof BatchedModel>;

/** A batch of requests that a provider answers within a day; amounts are quota units, times epoch seconds. */
export const Batch = z.object({
  /** The id that the client knows. */
  id: z.string(),
  dialect: z.string(),
  user_id: z.int(),
  /** The token that created it; 0 = none. */
  token_id: z.int(),
  group: z.string(),
  /** Id of the channel; 0 for the batch's owner. */
  channel_id: z.int(),
  /** The rows of the ledger and of the log have this id. */
  request_id: z.string(),
  endpoint: z.string(),
  models: z.record(z.string(), BatchedModel),
  input_file_id: z.string(),
  output_file_id: z.string(),
  error_file_id: z.string(),
  phase: z.enum(BATCH_PHASES),
  /** How it ended; "" = it has not, or no one knows. */
  outcome: z.enum(BATCH_OUTCOMES),
  total: z.int(),
  succeeded: z.int(),
  failed: z.int(),
  expired: z.int(),
  cancelled: z.int(),
  deposit: z.int(),
  charged: z.int(),
  /** What the same answers would have cost outside of a batch, less `charged`. */
  saved: z.int(),
  metadata: z.record(z.string(), z.unknown()),
  idempotency_key: z.nullable(z.string()),
  /** Why it could not be followed or booked last; "" = no failure. */
  error: z.string(),
  created_at: z.int(),
  /** 0 = never, as with the next times. */
  expires_at: z.int(),
  ended_at: z.int(),
  settled_at: z.int(),
  deleted_at: z.int(),
  /** Epoch milliseconds. */
  next_poll_at: z.int(),
  polls: z.int(),
  revision: z.int(),
});
export type Batch = z.output<typeof Batch>;

/** A fault of a line of the input, as the client reads it. */
export const BatchLineError = z.object({
  code: z.string(),
  /** Counts from 1; null = the whole file. */
  line: z.nullable(z.int()),
  message: z.string(),
  param: z.nullable(z.string()),
});
export type BatchLineError = z.output<typeof BatchLineError>;

/** What requests of one model cost in a batch: the prices of its creation. */
export const BatchPrice = z.object({
  model: z.string(),
  /** In the names of the other members and of the usage. */
  formula: z.string(),
  /** 0 for a price by call, like the next two. */
  model_ratio: z.number(),
  completion_ratio: z.number(),
  cache_ratio: z.number(),
  /** US dollars for a call; -1 for a price by tokens. */
  model_price: z.number(),
  group_ratio: z.number(),
  /** The discount of the input; 1 = none. */
  input_ratio: z.number(),
  output_ratio: z.number(),
});
export type BatchPrice = z.output<typeof BatchPrice>;

export const BatchDetail = z.extend(Batch, {
  /** Faults of lines that refused the batch, at most 100. */
  errors: z.array(BatchLineError),
  /** Empty for a batch that was refused for its lines. */
  prices: z.array(BatchPrice),
});
export type BatchDetail = z.output<typeof BatchDetail>;

/** What became of one request of a batch. */
export const BatchItem = z.object({
  custom_id: z.string(),
  result: z.enum(["succeeded", "failed", "expired", "cancelled", "unreadable"]),
  /** "" without an answer. */
  model: z.string(),
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  cached_tokens: z.int(),
  cache_write_tokens: z.int(),
  reasoning_tokens: z.int(),
  /** `counted` if the answer names no usage. */
  usage_source: z.enum(["upstream", "counted"]),
  /** The charge in quota units. */
  quota: z.int(),
  /** What the same answer costs outside of a batch. */
  full_quota: z.int(),
  price: z.nullable(BatchPrice),
});
export type BatchItem = z.output<typeof BatchItem>;

const own = {
  ...pageFields,
  token_id: queryInt,
  model: queryText,
  phase: queryText,
  /** Epoch seconds, compared with `created_at`. */
  start_timestamp: queryInt,
  end_timestamp: queryInt,
};
const batchParams = z.object({ id: z.string() });

export const batchList = endpoint({
  name: "batchList",
  method: "GET",
  path: "/api/batch/",
  access: "admin",
  summary: "Lists the batches of all users, newest first.",
  query: z.object({ ...own, user_id: queryInt, channel_id: queryInt }),
  data: z.array(Batch),
});

export const batchListSelf = endpoint({
  name: "batchListSelf",
  method: "GET",
  path: "/api/batch/self",
  access: "user",
  summary: "Lists the caller's batches, newest first.",
  query: z.object(own),
  data: z.array(Batch),
});

export const BatchReserve = z.object({
  /** Batches that are not settled. */
  batches: z.int(),
  /** The sum of their deposits in quota units. */
  deposit: z.int(),
});
export type BatchReserve = z.output<typeof BatchReserve>;

export const batchReserve = endpoint({
  name: "batchReserve",
  method: "GET",
  path: "/api/batch/reserve",
  access: "user",
  summary: "Reads how much of the caller's balance is deposited for batches that are not settled.",
  data: BatchReserve,
});

/** What batches hold and have saved. */
export const BatchTotals = z.object({
  /** Batches that are not settled now. */
  open: z.int(),
  /** The sum of their deposits in quota units. */
  deposit: z.int(),
  /** Batches that were settled in the period. */
  settled: z.int(),
  /** Requests of theirs that were answered. */
  succeeded: z.int(),
  /** What they cost, in quota units. */
  charged: z.int(),
  /** What the same answers would have cost outside of batches, less `charged`. */
  saved: z.int(),
});
export type BatchTotals = z.output<typeof BatchTotals>;

/** Epoch seconds, compared with `settled_at`; 0 = no limit. */
const settledIn = { start_timestamp: queryInt, end_timestamp: queryInt };

export const batchTotals = endpoint({
  name: "batchTotals",
  method: "GET",
  path: "/api/batch/totals",
  access: "admin",
  summary: "Sums the batches that are open now and those that were settled in a period.",
  query: z.object({
    ...settledIn,
    /** Only batches of this user; an unknown name has none. "" = everyone. */
    username: queryText,
  }),
  data: BatchTotals,
});

export const batchTotalsSelf = endpoint({
  name: "batchTotalsSelf",
  method: "GET",
  path: "/api/batch/self/totals",
  access: "user",
  summary: "The same sums of the caller's batches.",
  query: z.object(settledIn),
  data: BatchTotals,
});

export const batchGet = endpoint({
  name: "batchGet",
  method: "GET",
  path: "/api/batch/{id}",
  access: "user",
  summary: "Reads a batch with its prices and the faults of its lines: an own one, or any as an administrator.",
  params: batchParams,
  data: BatchDetail,
  fails: ["batch_not_found"],
});

export const batchItem = endpoint({
  name: "batchItem",
  method: "GET",
  path: "/api/batch/{id}/item",
  access: "user",
  rate: "critical",
  summary: "Finds one request in the results of a batch, with its usage and what it costs. Reads all results once.",
  params: batchParams,
  query: z.object({ custom_id: queryText }),
  data: BatchItem,
  fails: ["batch_not_found", "batch_not_ready", "batch_item_not_found", "batch_results_unreadable"],
});

export const batchCancel = endpoint({
  name: "batchCancel",
  method: "POST",
  path: "/api/batch/{id}/cancel",
  access: "user",
  summary:
    "Asks the provider to end a batch early: an own one, or any as an administrator. What has finished is charged.",
  params: batchParams,
  data: Batch,
  fails: ["batch_not_found", "batch_not_ready", "batch_not_cancelled"],
});

export const batchSettle = endpoint({
  name: "batchSettle",
  method: "POST",
  path: "/api/batch/{id}/settle",
  access: "admin",
  summary: "Reads the results of a batch that has ended, or is stuck, again within seconds.",
  params: batchParams,
  data: Batch,
  fails: ["batch_not_found", "batch_not_ready", "batch_account_lost"],
});

export const batchAbandon = endpoint({
  name: "batchAbandon",
  method: "POST",
  path: "/api/batch/{id}/abandon",
  access: "root",
  summary: "Ends a batch that is stuck without a charge and returns its deposit.",
  params: batchParams,
  data: Batch,
  fails: ["batch_not_found", "batch_not_ready"],
});
