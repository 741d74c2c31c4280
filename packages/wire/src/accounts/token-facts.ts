import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { textUpTo } from "../core/characters.ts";
import { idParams, queryInt } from "../core/envelope.ts";
import { pageQuery } from "../core/paging.ts";
import { MAX_GRACE_SECONDS } from "../core/constants.ts";
import { Token } from "./tokens.ts";

/** A token without its key, for its owner and for administrators. */
export const TokenFacts = z.extend(z.omit(Token, { key: true }), {
  /** Name of the owner. */
  username: z.string(),
  /** First and last characters of the key for its owner; "" for everyone else. */
  key_hint: z.string(),
});
export type TokenFacts = z.output<typeof TokenFacts>;

/**
 * Returns true for a text that may be a whole key, or most of one. Such a text belongs in the body of `tokenFind`: the
 * address of a call would put it into histories and into the logs of proxies.
 */
export function isKeyText(text: string): boolean {
  return /^(?:Bearer\s+)?(?:sk-\S{16,}|[0-9A-Za-z]{40,})$/.test(text.trim());
}

export const tokenFacts = endpoint({
  name: "tokenFacts",
  method: "GET",
  path: "/api/token/{id}/facts",
  access: "user",
  summary: "One token without its key: the caller's own and, for administrators, those of users whom they may see.",
  params: idParams,
  data: TokenFacts,
  fails: ["token_not_found", "user_view_not_permitted"],
});

export const tokenListOfUser = endpoint({
  name: "tokenListOfUser",
  method: "GET",
  path: "/api/user/{id}/tokens",
  access: "admin",
  summary: "Tokens of one user without their keys, newest first.",
  params: idParams,
  query: pageQuery,
  data: z.array(TokenFacts),
  fails: ["user_not_found", "user_view_not_permitted"],
});

export const tokenOfUserSetStatus = endpoint({
  name: "tokenOfUserSetStatus",
  method: "PUT",
  path: "/api/token/{id}/status",
  access: "admin",
  summary: "Enables or disables a token of a user whom the caller may change.",
  params: idParams,
  body: z.strictObject({ status: z.int() }),
  data: TokenFacts,
  fails: [
    "entity_changed",
    "token_not_found",
    "user_view_not_permitted",
    "user_change_not_permitted",
    "status_not_settable",
    "token_expired",
    "token_quota_used_up",
    "token_disabled_by_admin",
  ],
});

export const tokenOfUserRotate = endpoint({
  name: "tokenOfUserRotate",
  method: "POST",
  path: "/api/token/{id}/replace",
  access: "admin",
  rate: "critical",
  summary:
    "Gives a token of a user whom the caller may change another key, such as one that leaked; only its owner can read the new key. The replaced key works for `grace_seconds` more, 0 if absent.",
  params: idParams,
  body: z.strictObject({
    /** Seconds for which the replaced key still works; 0 if absent. */
    grace_seconds: z.optional(z.int().check(z.minimum(0), z.maximum(MAX_GRACE_SECONDS))),
  }),
  data: TokenFacts,
  fails: [
    "token_not_found",
    "entity_changed",
    "replicas_differ",
    "user_view_not_permitted",
    "user_change_not_permitted",
  ],
});

export const tokenFind = endpoint({
  name: "tokenFind",
  method: "POST",
  path: "/api/token/find",
  access: "user",
  summary:
    "Finds the token of a whole key by the key's hash: the caller's own and, for administrators, those of users whom they may see. The key is in the body, and nothing stores it.",
  body: z.strictObject({ key: textUpTo(4096) }),
  data: TokenFacts,
  fails: ["token_not_found", "user_view_not_permitted"],
});

/** Where a token was used, and for what. */
export const TokenActivity = z.object({
  /** False if only the newest calls were counted, because there are more than `LOG_FACET_SAMPLE`. */
  complete: z.boolean(),
  /** Addresses of clients with most calls first, 20 at most; "" for calls whose address is unknown. */
  addresses: z.array(
    z.object({ ip: z.string(), calls: z.int(), errors: z.int(), quota: z.int(), first: z.int(), last: z.int() }),
  ),
  /** The number of all addresses. */
  address_count: z.int(),
  /** Models with the highest cost first, 20 at most. */
  models: z.array(z.object({ model: z.string(), calls: z.int(), errors: z.int(), quota: z.int(), last: z.int() })),
});
export type TokenActivity = z.output<typeof TokenActivity>;

export const tokenActivity = endpoint({
  name: "tokenActivity",
  method: "GET",
  path: "/api/token/{id}/activity",
  access: "user",
  summary: "Addresses and models of the calls with one token, for the same callers as its facts.",
  params: idParams,
  query: z.object({ start_timestamp: queryInt, end_timestamp: queryInt }),
  data: TokenActivity,
  fails: ["token_not_found", "user_view_not_permitted", "log_unreachable"],
});
