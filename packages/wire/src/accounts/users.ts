import * as z from "zod/mini";
import { textUpTo } from "../core/characters.ts";
import { endpoint } from "../core/endpoint.ts";
import { idParams, queryText } from "../core/envelope.ts";
import { LimitsInput, LimitsView } from "../core/limits.ts";
import { queryInts } from "../core/lists.ts";
import { REASONS } from "../core/reasons.ts";
import { TagLimits } from "../core/tag-limits.ts";
import { pageFields } from "../core/paging.ts";

/** Maximum lengths in code points. */
export const USERNAME_MAX = 20;
export const DISPLAY_NAME_MAX = 20;
export const PASSWORD_MIN = 8;
export const PASSWORD_MAX = 128;
/** Maximum number of named access tokens of one user. */
export const ACCESS_TOKENS_MAX = 100;
/** Maximum size of a user's stored preferences in bytes. */
export const PREFERENCES_MAX_BYTES = 32 * 1024;

/** A user as every call returns one: the password and the access token are never sent. */
export const User = z.object({
  id: z.int(),
  username: z.string(),
  password: z.literal(""),
  display_name: z.string(),
  /** 1, 10 or 100. */
  role: z.int(),
  /** 1 enabled, 2 disabled. */
  status: z.int(),
  email: z.string(),
  github_id: z.string(),
  wechat_id: z.string(),
  telegram_id: z.string(),
  linux_do_id: z.string(),
  oidc_id: z.string(),
  verification_code: z.literal(""),
  access_token: z.null(),
  quota: z.int(),
  used_quota: z.int(),
  request_count: z.int(),
  group: z.string(),
  aff_code: z.string(),
  aff_count: z.int(),
  aff_quota: z.int(),
  aff_history_quota: z.int(),
  inviter_id: z.int(),
  /** Limits that replace those of `DefaultUserLimits`, member by member. */
  limits: LimitsView,
  /** Limits of calls by the value of a tag, or by the end user; {} = none. */
  tag_limits: TagLimits,
  /** RFC 3339 in UTC, set once the account is deleted. */
  DeletedAt: z.nullable(z.string()),
  /** The provider whose directory decides about name, address and state; absent = none, and in lists. */
  managed_by: z.optional(z.string()),
});
export type User = z.output<typeof User>;

/** The user returned by a sign-in. */
export const SignedInUser = z.object({
  id: z.int(),
  username: z.string(),
  display_name: z.string(),
  role: z.int(),
  status: z.int(),
  group: z.string(),
});
export type SignedInUser = z.output<typeof SignedInUser>;

const text = z.optional(z.string());
/** Any number: the handler refuses fractions and negative numbers with their own codes. */
const wholeNumber = z.optional(z.number({ error: REASONS.integer }));
const userFilter = { keyword: queryText, group: queryText, role: queryInts, status: queryInts };

/** Columns that the list of users can be ordered by. */
export const USER_SORTS = [
  "id",
  "username",
  "quota",
  "used_quota",
  "request_count",
  "role",
  "status",
  "created_at",
] as const;

export const userList = endpoint({
  name: "userList",
  method: "GET",
  path: "/api/user/",
  access: "admin",
  summary: "Users, deleted ones included, newest first.",
  query: z.object({ ...pageFields, ...userFilter }),
  data: z.array(User),
});

export const userSearch = endpoint({
  name: "userSearch",
  method: "GET",
  path: "/api/user/search",
  access: "admin",
  summary: "Users by part of name, e-mail or display name, by id, by group; unpaged unless a page size is given.",
  query: z.object({ ...pageFields, ...userFilter }),
  data: z.array(User),
});

export const userGet = endpoint({
  name: "userGet",
  method: "GET",
  path: "/api/user/{id}",
  access: "admin",
  summary: "One user.",
  params: idParams,
  data: User,
  fails: ["invalid_parameter", "user_not_found", "user_view_not_permitted"],
});

export const userCreate = endpoint({
  name: "userCreate",
  method: "POST",
  path: "/api/user/",
  access: "admin",
  summary: "Creates a regular user in the group default.",
  body: z.strictObject({ username: text, password: text, display_name: text, role: z.optional(z.int()) }),
  fails: [
    "credentials_missing",
    "username_invalid",
    "password_too_short",
    "password_too_long",
    "invalid_field",
    "user_create_role_too_high",
    "username_taken",
  ],
});

export const userUpdate = endpoint({
  name: "userUpdate",
  method: "PUT",
  path: "/api/user/",
  access: "admin",
  summary:
    "Changes the members that are given; with original_quota the quota moves by the difference. A new password ends the user's sessions and access tokens.",
  body: z.strictObject({
    id: z.optional(z.int()),
    username: text,
    display_name: text,
    password: text,
    group: text,
    role: z.optional(z.int()),
    quota: wholeNumber,
    original_quota: wholeNumber,
    /** Absent: the limits stay; {}: no limits. */
    limits: LimitsInput,
    /** Absent: they stay; {}: none. */
    tag_limits: z.optional(TagLimits),
  }),
  fails: [
    "entity_changed",
    "invalid_parameter",
    "invalid_field",
    "user_not_found",
    "user_change_not_permitted",
    "account_managed",
    "user_role_too_high",
    "username_invalid",
    "username_taken",
    "password_too_short",
    "password_too_long",
    "group_not_found",
    "quota_invalid",
    "session_required",
    "confirmation_required",
  ],
});

export const USER_ACTIONS = ["promote", "demote", "disable", "enable", "delete", "add_quota"] as const;
export type UserAction = (typeof USER_ACTIONS)[number];

export const userManage = endpoint({
  name: "userManage",
  method: "POST",
  path: "/api/user/manage",
  access: "admin",
  summary:
    "Promotes, demotes, disables, enables, deletes, or adds `value` to the quota; `mode` says `add`, `subtract` or `override`. With an `Idempotency-Key`, a change of the quota counts once.",
  /** `username` identifies the user if there is no `id`, as older programs of compatible gateways send it. */
  body: z.strictObject({ id: z.optional(z.unknown()), username: text, action: text, value: wholeNumber, mode: text }),
  data: z.object({ id: z.int(), username: z.string(), role: z.int(), status: z.int(), quota: z.int() }),
  fails: [
    "account_managed",
    "invalid_parameter",
    "account_is_wallet",
    "user_not_found",
    "user_deleted",
    "user_change_not_permitted",
    "root_cannot_be_disabled",
    "root_cannot_be_deleted",
    "promotion_needs_root",
    "user_already_admin",
    "root_cannot_be_demoted",
    "user_already_regular",
    "unknown_action",
    "quota_invalid",
    "idempotency_key_invalid",
    "idempotency_key_reused",
  ],
});

export const userTopUp = endpoint({
  name: "userTopUp",
  method: "POST",
  path: "/api/topup",
  access: "admin",
  summary:
    "Adds quota to a user, as payment programs for one-api call it; `remark` is part of the log row. With an `Idempotency-Key` it counts once.",
  body: z.strictObject({ user_id: z.optional(z.int()), quota: wholeNumber, remark: z.optional(textUpTo(255)) }),
  fails: [
    "invalid_parameter",
    "invalid_field",
    "user_not_found",
    "user_deleted",
    "user_change_not_permitted",
    "quota_invalid",
    "idempotency_key_invalid",
    "idempotency_key_reused",
  ],
});

export const userDelete = endpoint({
  name: "userDelete",
  method: "DELETE",
  path: "/api/user/{id}",
  access: "admin",
  summary: "Deletes a user for good, with tokens and sessions; logs stay.",
  params: idParams,
  fails: ["invalid_parameter", "user_not_found", "user_delete_not_permitted"],
});
