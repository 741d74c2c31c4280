import * as z from "zod/mini";
import { textUpTo } from "../core/characters.ts";
import { endpoint } from "../core/endpoint.ts";
import { idParams, queryInt, queryText } from "../core/envelope.ts";
import { LimitsInput, LimitsView } from "../core/limits.ts";
import { queryInts } from "../core/lists.ts";
import { ACCESS_SCOPES } from "./scopes.ts";
import { REASONS } from "../core/messages.ts";
import { pageFields } from "../core/paging.ts";

/** Lengths in code points. */
export const USERNAME_MAX = 20;
export const DISPLAY_NAME_MAX = 20;
export const PASSWORD_MIN = 8;
export const PASSWORD_MAX = 128;
/** Most named access tokens of one user. */
export const ACCESS_TOKENS_MAX = 100;
/** Bytes of a user's stored preferences. */
export const PREFERENCES_MAX_BYTES = 32 * 1024;

/** A user as every call shows one: password and access token never travel. */
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
  /** Instead of those of `DefaultUserLimits`, member by member. */
  limits: LimitsView,
  /** RFC 3339 in UTC once the account is deleted. */
  DeletedAt: z.nullable(z.string()),
});
export type User = z.output<typeof User>;

/** What a sign-in answers. */
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
/** Any number: fractions and negative ones are refused by name in the handler. */
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
  fails: ["G1", "U1", "U2"],
});

export const userCreate = endpoint({
  name: "userCreate",
  method: "POST",
  path: "/api/user/",
  access: "admin",
  summary: "Creates a regular user in the group default.",
  body: z.object({ username: text, password: text, display_name: text, role: z.optional(z.int()) }),
  fails: ["L2", "R9", "R3", "R10", "G2", "U5", "R7"],
});

export const userUpdate = endpoint({
  name: "userUpdate",
  method: "PUT",
  path: "/api/user/",
  access: "admin",
  summary:
    "Changes the members that are given; with original_quota the quota moves by the difference. A new password ends the user's sessions and access tokens.",
  body: z.object({
    id: z.optional(z.int()),
    username: text,
    display_name: text,
    password: text,
    group: text,
    role: z.optional(z.int()),
    quota: wholeNumber,
    original_quota: wholeNumber,
    /** Absent: they stay; {}: none. */
    limits: LimitsInput,
  }),
  fails: ["G8", "G1", "G2", "U1", "U3", "U4", "R9", "R7", "R3", "R10", "U15", "U16", "AU9", "AU10"],
});

export const USER_ACTIONS = ["promote", "demote", "disable", "enable", "delete", "add_quota"] as const;
export type UserAction = (typeof USER_ACTIONS)[number];

export const userManage = endpoint({
  name: "userManage",
  method: "POST",
  path: "/api/user/manage",
  access: "admin",
  summary:
    "Promotes, demotes, disables, enables, deletes, or adds `value` to the quota; `mode` says `add`, `subtract` or `override`.",
  /** `username` names the user where there is no `id`, as older programs of the family do. */
  body: z.object({ id: z.optional(z.unknown()), username: text, action: text, value: wholeNumber, mode: text }),
  data: z.object({ id: z.int(), username: z.string(), role: z.int(), status: z.int(), quota: z.int() }),
  fails: ["G1", "U1", "U13", "U3", "U6", "U7", "U8", "U9", "U10", "U11", "U12", "U16"],
});

export const userTopUp = endpoint({
  name: "userTopUp",
  method: "POST",
  path: "/api/topup",
  access: "admin",
  summary: "Adds quota to a user, as payment programs for one-api ask; `remark` is told in the log.",
  body: z.object({ user_id: z.optional(z.int()), quota: wholeNumber, remark: z.optional(textUpTo(255)) }),
  fails: ["G1", "G2", "U1", "U13", "U3", "U16"],
});

export const userDelete = endpoint({
  name: "userDelete",
  method: "DELETE",
  path: "/api/user/{id}",
  access: "admin",
  summary: "Deletes a user for good, with tokens and sessions; logs stay.",
  params: idParams,
  fails: ["G1", "U1", "U14"],
});

export const selfGet = endpoint({
  name: "selfGet",
  method: "GET",
  path: "/api/user/self",
  access: "user",
  summary: "The caller.",
  data: User,
});

export const selfUpdate = endpoint({
  name: "selfUpdate",
  method: "PUT",
  path: "/api/user/self",
  access: "user",
  summary:
    "Changes own name, display name or password; empty members stay as they are. A new password ends the other sessions; it asks for original_password, or for a sign-in or confirmation of the last 5 minutes.",
  body: z.object({
    username: text,
    password: text,
    display_name: text,
    original_password: text,
    /** With a new password: ends all access tokens too, which go on working otherwise. */
    revoke_access_tokens: z.optional(z.boolean()),
  }),
  fails: ["G8", "R9", "R3", "R10", "R7", "G2", "U20", "L4", "AU9", "AU10"],
});

export const selfDelete = endpoint({
  name: "selfDelete",
  method: "DELETE",
  path: "/api/user/self",
  access: "user",
  summary: "Deletes the own account; its name stays taken.",
  fails: ["U7"],
});

export const selfAccessToken = endpoint({
  name: "selfAccessToken",
  credentials: "fresh",
  method: "GET",
  path: "/api/user/token",
  access: "user",
  summary: "Replaces the system access token and answers the new one.",
  data: z.string(),
  hasEffects: true,
});

export const selfModels = endpoint({
  name: "selfModels",
  method: "GET",
  path: "/api/user/models",
  access: "user",
  summary: "Names of all models that the caller's groups can use.",
  data: z.array(z.string()),
});

export const selfModelsOfFamily = endpoint({
  name: "selfModelsOfFamily",
  method: "GET",
  path: "/api/user/available_models",
  access: "user",
  summary: "The same as `GET /api/user/models`, under its name in one-api.",
  data: z.array(z.string()),
});

const groupLabels = z.record(z.string(), z.string());

export const usableGroups = endpoint({
  name: "usableGroups",
  method: "GET",
  path: "/api/user/groups",
  access: "try",
  summary: "Groups that the caller, or anyone, may choose, with their labels.",
  data: groupLabels,
});

export const selfGroups = endpoint({
  name: "selfGroups",
  method: "GET",
  path: "/api/user/self/groups",
  access: "user",
  summary: "Groups that the caller may choose, with their labels.",
  data: groupLabels,
});

export const selfInviteCode = endpoint({
  name: "selfInviteCode",
  method: "GET",
  path: "/api/user/aff",
  access: "user",
  summary: "The caller's invitation code.",
  data: z.string(),
  hasEffects: true,
});

export const selfInviteTransfer = endpoint({
  name: "selfInviteTransfer",
  method: "POST",
  path: "/api/user/aff_transfer",
  access: "user",
  summary: "Moves invitation rewards to the balance.",
  body: z.object({ quota: z.optional(z.int()) }),
  fails: ["G1", "G2", "U17", "U18"],
});

/** Views, density, language and the like; the server only stores it. */
export const Preferences = z.record(z.string(), z.unknown());

export const selfPreferences = endpoint({
  name: "selfPreferences",
  method: "GET",
  path: "/api/user/self/prefs",
  access: "user",
  summary: "The caller's preferences, as they were stored.",
  data: Preferences,
});

export const selfPreferencesUpdate = endpoint({
  name: "selfPreferencesUpdate",
  method: "PUT",
  path: "/api/user/self/prefs",
  access: "user",
  summary: "Replaces the caller's preferences, 32 KiB at most.",
  body: Preferences,
  data: Preferences,
  fails: ["G2"],
});

export const SessionView = z.object({
  /** Names the session in calls; tells nothing about its cookie. */
  id: z.string(),
  is_current: z.boolean(),
  ip: z.string(),
  user_agent: z.string(),
  created_at: z.int(),
  renewed_at: z.int(),
});
export type SessionView = z.output<typeof SessionView>;

export const selfSessions = endpoint({
  name: "selfSessions",
  method: "GET",
  path: "/api/user/self/sessions",
  access: "user",
  summary: "The caller's signed-in sessions, the latest first; 100 of them unless a page is asked for.",
  query: z.object({ p: queryInt, page_size: queryInt }),
  data: z.array(SessionView),
});

export const selfSessionEnd = endpoint({
  name: "selfSessionEnd",
  credentials: "session",
  method: "DELETE",
  path: "/api/user/self/sessions/{id}",
  access: "user",
  summary: "Ends one of the caller's sessions.",
  params: z.object({ id: z.string() }),
});

export const selfSessionsEnd = endpoint({
  name: "selfSessionsEnd",
  credentials: "session",
  method: "DELETE",
  path: "/api/user/self/sessions",
  access: "user",
  summary: "Ends all of the caller's sessions but the one that asks.",
});

export const NamedAccessToken = z.object({
  name: z.string(),
  created_at: z.int(),
  last_used_at: z.int(),
  /** 0 = never. */
  expires_at: z.int(),
  /** Empty = everything that its user may do. */
  scopes: z.array(z.string()),
});
export type NamedAccessToken = z.output<typeof NamedAccessToken>;

export const accessTokenList = endpoint({
  name: "accessTokenList",
  method: "GET",
  path: "/api/user/self/access_tokens",
  access: "user",
  summary: "The caller's access tokens; the one without a name is that of GET /api/user/token.",
  data: z.array(NamedAccessToken),
});

export const accessTokenCreate = endpoint({
  name: "accessTokenCreate",
  credentials: "fresh",
  method: "POST",
  path: "/api/user/self/access_tokens",
  access: "user",
  summary: "Makes or replaces the caller's access token of that name and answers it; it is shown once.",
  body: z.object({
    name: z.string().check(z.maxLength(64)),
    /** Epoch seconds; 0 = never. */
    expires_at: z.optional(z.int().check(z.minimum(0))),
    /** `read`, `write`, or either for one area, such as `channels:read`; empty = everything that the caller may do. */
    scopes: z.optional(
      z.array(z.enum(ACCESS_SCOPES, { error: REASONS.scopes })).check(z.maxLength(ACCESS_SCOPES.length)),
    ),
  }),
  data: z.string(),
  fails: ["G2", "K8"],
});

export const accessTokenDelete = endpoint({
  name: "accessTokenDelete",
  method: "DELETE",
  path: "/api/user/self/access_tokens",
  access: "user",
  summary: "Removes the caller's access token of that name.",
  query: z.object({ name: queryText }),
});
