import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { idParams, queryInt, queryText, statusOnly } from "../core/envelope.ts";
import { REASONS } from "../core/reasons.ts";
import { pageFields } from "../core/paging.ts";
import { queryInts } from "../core/lists.ts";
import { TokenBudget } from "../core/budget-terms.ts";
import { sentTokenFields, shownTokenFields } from "./token-shapes.ts";

/** Maximum number of tokens on one page of the list; chat pages request 999. */
export const TOKEN_PAGE_CAP = 1000;

/** Characters of the name of a token. */
export const TOKEN_NAME_MAX = 30;

/** An access token of the caller. `key` is shown in full to its owner, without the `sk-` that clients put before it. */
export const Token = z.object({
  id: z.int(),
  user_id: z.int(),
  key: z.string(),
  status: z.int(),
  ...shownTokenFields,
  created_time: z.int(),
  accessed_time: z.int(),
  used_quota: z.int(),
  /** True if an administrator disabled the token: its owner cannot enable it. */
  disabled_by_admin: z.boolean(),
  /** Epoch seconds at which the current key replaced another; 0 = the token has its first key. */
  rotated_at: z.int(),
  /** Epoch seconds until which a replaced key works; 0 or past = none does. */
  old_keys_until: z.int(),
  DeletedAt: z.nullable(z.string()),
});
export type Token = z.output<typeof Token>;

/** Returns when a token was last used, 0 = never: a new token has the time of its creation as `accessed_time`. */
export function resolveLastUse(token: Pick<Token, "accessed_time" | "created_time" | "used_quota">): number {
  const isUsed = token.accessed_time > token.created_time || token.used_quota > 0;
  return isUsed ? token.accessed_time : 0;
}

export const TokenInput = z.strictObject(sentTokenFields);
export type TokenInput = z.output<typeof TokenInput>;

const tokenFilter = {
  keyword: queryText,
  /** Part of a key; a leading `sk-` is removed. */
  token: queryText,
  status: queryInts,
  group: queryText,
  /** Only tokens that expire within this many seconds. */
  expiring: queryInt,
};

const listQuery = z.object({ ...pageFields, size: queryInt, ...tokenFilter });

const refusals = [
  "token_name_too_long",
  "quota_invalid",
  "invalid_field",
  "token_group_not_permitted",
  "ip_range_invalid",
] as const;

export const tokenList = endpoint({
  name: "tokenList",
  method: "GET",
  path: "/api/token/",
  access: "user",
  summary: "Lists the caller's tokens, newest first.",
  query: listQuery,
  data: z.array(Token),
});

export const tokenSearch = endpoint({
  name: "tokenSearch",
  method: "GET",
  path: "/api/token/search",
  access: "user",
  summary: "Finds the caller's tokens by name and by part of the key; paged only when asked for.",
  query: listQuery,
  data: z.array(Token),
});

export const tokenGet = endpoint({
  name: "tokenGet",
  method: "GET",
  path: "/api/token/{id}",
  access: "user",
  summary: "Reads one token of the caller.",
  params: idParams,
  data: Token,
  fails: ["token_not_found"],
});

export const tokenCreate = endpoint({
  name: "tokenCreate",
  method: "POST",
  path: "/api/token/",
  access: "user",
  summary: "Creates a token with a random key, and with a budget of its own if one is given.",
  body: z.strictObject({
    ...sentTokenFields,
    /** A limit for each period, made with the token: an hour, a day, a month. Its owner cannot change it later. */
    budget: z.optional(TokenBudget),
  }),
  data: Token,
  fails: [...refusals, "too_many_tokens", "time_zone_unknown", "budget_length_wrong"],
});

export const tokenSetStatus = endpoint({
  name: "tokenSetStatus",
  method: "PUT",
  path: "/api/token/",
  access: "user",
  summary: "Enables or disables a token.",
  query: statusOnly,
  body: z.strictObject({ id: z.optional(z.int()), status: z.optional(z.int()) }),
  data: Token,
  fails: [
    "entity_changed",
    "token_not_found",
    "status_not_settable",
    "token_expired",
    "token_quota_used_up",
    "token_disabled_by_admin",
  ],
});

export const tokenUpdate = endpoint({
  name: "tokenUpdate",
  method: "PUT",
  path: "/api/token/",
  access: "user",
  summary:
    "Replaces all fields of a token; absent ones take their default (`remain_quota` 0), the status stays. With original_remain_quota the quota moves by the difference.",
  body: z.strictObject({
    ...sentTokenFields,
    id: z.optional(z.int()),
    status: z.optional(z.int()),
    /** The value that the form started with; quota spent since then stays spent. */
    original_remain_quota: z.optional(z.number({ error: REASONS.integer })),
  }),
  data: Token,
  fails: [
    "entity_changed",
    "token_not_found",
    ...refusals,
    "token_expired",
    "token_quota_used_up",
    "token_disabled_by_admin",
  ],
});

export const tokenDelete = endpoint({
  name: "tokenDelete",
  method: "DELETE",
  path: "/api/token/{id}",
  access: "user",
  summary: "Deletes a token; its key stops working at once.",
  params: idParams,
  fails: ["token_not_found"],
});

/** Maximum number of tokens in one call. */
export const TOKEN_BATCH_CAP = 100;
const idsBody = z.strictObject({ ids: z.optional(z.array(z.int())) });

export const tokenBatchDelete = endpoint({
  name: "tokenBatchDelete",
  method: "POST",
  path: "/api/token/batch",
  access: "user",
  summary: "Deletes up to 100 of the caller's tokens and reports how many; ids of others are skipped.",
  body: idsBody,
  data: z.int(),
  fails: ["invalid_parameter", "invalid_field"],
});

export const tokenKey = endpoint({
  name: "tokenKey",
  method: "POST",
  path: "/api/token/{id}/key",
  access: "user",
  rate: "critical",
  summary: "The key of one of the caller's tokens, without `sk-`.",
  params: idParams,
  data: z.object({ key: z.string() }),
  fails: ["token_not_found"],
});

export const tokenKeys = endpoint({
  name: "tokenKeys",
  method: "POST",
  path: "/api/token/batch/keys",
  access: "user",
  rate: "critical",
  summary: "Keys of up to 100 of the caller's tokens by id, without `sk-`; ids of others are skipped.",
  body: idsBody,
  data: z.object({ keys: z.record(z.string(), z.string()) }),
  fails: ["invalid_parameter", "invalid_field"],
});

/** The remaining quota of a relay key, in the format of later versions of compatible gateways. */
export const TokenUsage = z.object({
  code: z.literal(true),
  message: z.literal("ok"),
  data: z.object({
    object: z.literal("token_usage"),
    name: z.string(),
    total_granted: z.int(),
    total_used: z.int(),
    total_available: z.int(),
    unlimited_quota: z.boolean(),
    /** Names of the allowed models, each with the value true. */
    model_limits: z.record(z.string(), z.literal(true)),
    model_limits_enabled: z.boolean(),
    /** Epoch seconds; 0 = never. */
    expires_at: z.int(),
  }),
});
export type TokenUsage = z.output<typeof TokenUsage>;

export const tokenUsage = endpoint({
  name: "tokenUsage",
  method: "GET",
  path: "/api/usage/token",
  access: "key",
  isCrossOrigin: true,
  answer: "raw",
  summary: "Tells a relay key what it has left; also when that is nothing.",
});
