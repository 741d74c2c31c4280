import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { idParams } from "../core/envelope.ts";
import { pageQuery } from "../core/paging.ts";
import { Token } from "./tokens.ts";

/** A token without its key, for its owner and for administrators. */
export const TokenFacts = z.extend(z.omit(Token, { key: true }), {
  /** Name of the owner. */
  username: z.string(),
  /** First and last characters of the key for its owner; "" for everyone else. */
  key_hint: z.string(),
});
export type TokenFacts = z.output<typeof TokenFacts>;

/** Returns the first and last characters of a key, which identify it. */
export function keyHint(key: string): string {
  return `sk-${key.slice(0, 4)}…${key.slice(-4)}`;
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
