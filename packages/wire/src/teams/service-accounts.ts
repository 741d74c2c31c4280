import * as z from "zod/mini";
import { ACCESS_SCOPES } from "../access/scopes.ts";
import { endpoint } from "../core/endpoint.ts";
import { idParams, pathId } from "../core/envelope.ts";
import { REASONS } from "../core/reasons.ts";

const GONE = ["team_not_found", "team_right_missing"] as const;
const MISSING = [...GONE, "service_account_not_found"] as const;

export const SERVICE_ACCOUNT_STATUS = { on: 1, off: 2 } as const;
/** The team of service accounts that belong to none: they are administrators of the installation. */
export const INSTALLATION_TEAM = 0;
/** Most service accounts of a team, and most access tokens of one. */
export const MAX_SERVICE_ACCOUNTS = 100;
export const MAX_SERVICE_TOKENS = 10;
/** Longest life of an access token of a service account. */
export const MAX_SERVICE_TOKEN_SECONDS = 366 * 86_400;
/** How access tokens of service accounts begin. */
export const SERVICE_TOKEN_PREFIX = "fwsa_";

/** A holder of keys that is no person. */
export const ServiceAccount = z.object({
  id: z.int(),
  name: z.string(),
  description: z.string(),
  /** 1 = on, 2 = off: its keys and access tokens are refused. */
  status: z.int(),
  /** Number of its keys for model calls. */
  keys: z.int(),
  /** Number of its access tokens that have not expired. */
  access_tokens: z.int(),
  created_by: z.int(),
  created_at: z.int(),
  /** When a key or an access token of it was last used; 0 = never. */
  last_used_at: z.int(),
});
export type ServiceAccount = z.output<typeof ServiceAccount>;

const accountName = z.string().check(z.trim(), z.minLength(1), z.maxLength(64), z.regex(/^[^\p{Cc}\p{Cf}]+$/u));
const description = z.string().check(z.maxLength(255));
export const NewServiceAccount = z.strictObject({ name: accountName, description: z.optional(description) });
export const ServiceAccountForm = z.strictObject({
  name: z.optional(accountName),
  description: z.optional(description),
  /** 1 = on, 2 = off. */
  status: z.optional(z.int().check(z.minimum(1), z.maximum(2))),
});
const params = z.object({ id: pathId, sid: pathId });

export const serviceAccountList = endpoint({
  name: "serviceAccountList",
  method: "GET",
  path: "/api/team/{id}/service_account/",
  access: "user",
  summary: "Lists the service accounts of a team by name.",
  params: idParams,
  data: z.array(ServiceAccount),
  fails: GONE,
});

export const serviceAccountCreate = endpoint({
  name: "serviceAccountCreate",
  method: "POST",
  path: "/api/team/{id}/service_account/",
  access: "user",
  summary: "Makes a service account; keys and access tokens are made for it afterwards.",
  params: idParams,
  body: NewServiceAccount,
  data: ServiceAccount,
  fails: [...GONE, "service_account_exists", "team_limit_reached"],
});

export const serviceAccountUpdate = endpoint({
  name: "serviceAccountUpdate",
  method: "PUT",
  path: "/api/team/{id}/service_account/{sid}",
  access: "user",
  summary: "Changes the named members of a service account; one that is off has no key and no access token that works.",
  params,
  body: ServiceAccountForm,
  data: ServiceAccount,
  fails: [...MISSING, "service_account_exists"],
});

export const serviceAccountDelete = endpoint({
  name: "serviceAccountDelete",
  method: "DELETE",
  path: "/api/team/{id}/service_account/{sid}",
  access: "user",
  summary: "Deletes a service account: its keys and access tokens stop at once.",
  params,
  fails: MISSING,
});

/** An access token of a service account, without its text. */
export const ServiceToken = z.object({
  id: z.int(),
  name: z.string(),
  /** First characters of the text. */
  hint: z.string(),
  scopes: z.array(z.string()),
  created_at: z.int(),
  last_used_at: z.int(),
  expires_at: z.int(),
});
export type ServiceToken = z.output<typeof ServiceToken>;

export const NewServiceToken = z.strictObject({
  name: accountName,
  /** At least one, such as `teams:read`. */
  scopes: z
    .array(z.enum(ACCESS_SCOPES, { error: REASONS.scopes }), { error: REASONS.scopes })
    .check(z.minLength(1, { error: REASONS.scopes }), z.maxLength(ACCESS_SCOPES.length, { error: REASONS.scopes })),
  /** Seconds, 366 days at most. */
  expires_in: z.int().check(z.minimum(60), z.maximum(MAX_SERVICE_TOKEN_SECONDS)),
  /** Seconds for which tokens of the same name still work; absent = no time. */
  grace_seconds: z.optional(z.int().check(z.minimum(0), z.maximum(2_592_000))),
});
export const MadeServiceToken = z.object({ id: z.int(), token: z.string(), expires_at: z.int() });

export const serviceTokenList = endpoint({
  name: "serviceTokenList",
  method: "GET",
  path: "/api/team/{id}/service_account/{sid}/access_token",
  access: "user",
  summary: "Lists the access tokens of a service account by name.",
  params,
  data: z.array(ServiceToken),
  fails: MISSING,
});

export const serviceTokenCreate = endpoint({
  name: "serviceTokenCreate",
  method: "POST",
  path: "/api/team/{id}/service_account/{sid}/access_token",
  access: "user",
  summary: "Makes an access token with which a program manages the team as its admin; it is shown once.",
  params,
  body: NewServiceToken,
  data: MadeServiceToken,
  fails: [...MISSING, "invalid_field", "team_limit_reached"],
});

export const serviceTokenDelete = endpoint({
  name: "serviceTokenDelete",
  method: "DELETE",
  path: "/api/team/{id}/service_account/{sid}/access_token/{aid}",
  access: "user",
  summary: "Ends an access token of a service account.",
  params: z.object({ id: pathId, sid: pathId, aid: pathId }),
  fails: [...MISSING, "service_token_not_found"],
});
