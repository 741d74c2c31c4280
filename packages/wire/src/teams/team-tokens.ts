import * as z from "zod/mini";
import { RotatedKey, tokenRotate } from "../accounts/token-keys.ts";
import { Token, TokenInput, tokenUpdate } from "../accounts/tokens.ts";
import { endpoint } from "../core/endpoint.ts";
import { idParams, pathId, queryInt, queryText } from "../core/envelope.ts";
import { queryInts } from "../core/lists.ts";
import { pageFields } from "../core/paging.ts";

const GONE = ["team_not_found", "team_right_missing"] as const;
const REFUSALS = [
  "token_name_too_long",
  "quota_invalid",
  "invalid_field",
  "token_group_not_permitted",
  "ip_range_invalid",
  "team_key_too_long",
] as const;

/** A key of a team. `key` is "" for callers who may not read it. */
export const TeamToken = z.extend(Token, {
  /** Id of the member who made it; 0 = none. */
  member: z.int(),
  /** Name of that member; "" = none. */
  member_name: z.string(),
  /** Id of the service account that holds it; 0 = none. */
  service_account: z.int(),
});
export type TeamToken = z.output<typeof TeamToken>;

const tokenParams = z.object({ id: pathId, tid: pathId });

export const teamTokenList = endpoint({
  name: "teamTokenList",
  method: "GET",
  path: "/api/team/{id}/token/",
  access: "user",
  summary: "Lists keys of a team, newest first: all of them for admins, their own for members.",
  params: idParams,
  query: z.object({
    ...pageFields,
    keyword: queryText,
    status: queryInts,
    group: queryText,
    /** Only keys that expire within this many seconds. */
    expiring: queryInt,
  }),
  data: z.array(TeamToken),
  fails: GONE,
});

export const teamTokenGet = endpoint({
  name: "teamTokenGet",
  method: "GET",
  path: "/api/team/{id}/token/{tid}",
  access: "user",
  summary: "Reads a key of a team.",
  params: tokenParams,
  data: TeamToken,
  fails: [...GONE, "token_not_found"],
});

export const teamTokenCreate = endpoint({
  name: "teamTokenCreate",
  method: "POST",
  path: "/api/team/{id}/token/",
  access: "user",
  summary: "Creates a key whose calls the wallet of the team pays.",
  params: idParams,
  body: z.extend(TokenInput, {
    /** The service account that holds the key; admins only. */
    service_account_id: z.optional(z.int().check(z.minimum(1))),
  }),
  data: TeamToken,
  fails: [...GONE, ...REFUSALS, "team_keys_limit", "service_account_not_found", "too_many_tokens"],
});

export const teamTokenUpdate = endpoint({
  name: "teamTokenUpdate",
  method: "PUT",
  path: "/api/team/{id}/token/{tid}",
  access: "user",
  summary:
    "Replaces all fields of a key; absent ones take their default. With original_remain_quota the quota moves by the difference.",
  params: tokenParams,
  body: z.extend(TokenInput, {
    /** The value that the form started with; quota spent since then stays spent. */
    original_remain_quota: tokenUpdate.body.shape.original_remain_quota,
  }),
  data: TeamToken,
  fails: [...GONE, ...REFUSALS, "token_not_found", "entity_changed"],
});

export const teamTokenSetStatus = endpoint({
  name: "teamTokenSetStatus",
  method: "PUT",
  path: "/api/team/{id}/token/{tid}/status",
  access: "user",
  summary: "Enables or disables a key; an admin who enables the key of a former member holds it from then on.",
  params: tokenParams,
  body: z.strictObject({ status: z.int() }),
  data: TeamToken,
  fails: [
    ...GONE,
    "token_not_found",
    "status_not_settable",
    "token_expired",
    "token_quota_used_up",
    "token_disabled_by_admin",
  ],
});

export const teamTokenDelete = endpoint({
  name: "teamTokenDelete",
  method: "DELETE",
  path: "/api/team/{id}/token/{tid}",
  access: "user",
  summary: "Deletes a key; it stops working at once.",
  params: tokenParams,
  fails: [...GONE, "token_not_found"],
});

export const teamTokenRotate = endpoint({
  name: "teamTokenRotate",
  method: "POST",
  path: "/api/team/{id}/token/{tid}/rotate",
  access: "user",
  rate: "critical",
  summary:
    "Gives a key of a team a new text, for its maker and for admins. The answer has the new key for those who may read it; for others `key` is empty.",
  params: tokenParams,
  body: tokenRotate.body,
  data: RotatedKey,
  fails: [...GONE, "token_not_found", "entity_changed", "replicas_differ"],
});

export const teamTokenKey = endpoint({
  name: "teamTokenKey",
  method: "POST",
  path: "/api/team/{id}/token/{tid}/key",
  access: "user",
  rate: "critical",
  summary: "The full key, for its maker, and for admins where the team lets them read keys.",
  params: tokenParams,
  data: z.object({ key: z.string() }),
  fails: [...GONE, "token_not_found"],
});

export const tokenMove = endpoint({
  name: "tokenMove",
  method: "POST",
  path: "/api/token/{id}/move",
  access: "user",
  rate: "critical",
  summary:
    "Gives a key to a team or to a person. Its text works on, its id changes, and calls that run are paid by the earlier owner.",
  params: idParams,
  /** One of them. */
  body: z.strictObject({
    team_id: z.optional(z.int().check(z.minimum(1))),
    user_id: z.optional(z.int().check(z.minimum(1))),
  }),
  data: z.object({
    id: z.int(),
    /** 0 = it belongs to a person. */
    team_id: z.int(),
    /** The account that pays for its calls: that of the person, or the wallet of the team. */
    user_id: z.int(),
    /** What the key may still spend; 0 if it has no limit of its own. */
    remain_quota: z.int(),
    /** What running calls have reserved of its limit; it stays with the earlier owner. */
    held: z.int(),
  }),
  fails: [
    ...GONE,
    "token_not_found",
    "user_not_found",
    "user_change_not_permitted",
    "invalid_field",
    "token_group_not_permitted",
    "token_move_widens",
    "team_key_too_long",
    "team_keys_limit",
    "too_many_tokens",
  ],
});
