// Calls of users about their own account.
import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { queryInt, queryText } from "../core/envelope.ts";
import { REASONS } from "../core/reasons.ts";
import { ACCESS_SCOPES } from "../access/scopes.ts";
import { SignedInUser, User } from "./users.ts";

const text = z.optional(z.string());

export const selfGet = endpoint({
  name: "selfGet",
  method: "GET",
  path: "/api/user/self",
  access: "user",
  summary: "The caller.",
  data: User,
});

export const selfSignedIn = endpoint({
  name: "selfSignedIn",
  method: "GET",
  path: "/api/user/self/signed_in",
  access: "try",
  summary:
    "The user whose session cookie the call carries, as a sign-in answers it; null without one. It needs no user-id header, which a browser that denies its storage cannot know.",
  data: z.nullable(SignedInUser),
});

export const selfUpdate = endpoint({
  name: "selfUpdate",
  method: "PUT",
  path: "/api/user/self",
  access: "user",
  summary:
    "Changes own name, display name or password; empty members stay as they are. A new password ends the other sessions; it requires original_password, or a sign-in or confirmation of the last 5 minutes.",
  body: z.strictObject({
    username: text,
    password: text,
    display_name: text,
    original_password: text,
    /** With a new password: also revokes all access tokens, which otherwise continue to work. */
    revoke_access_tokens: z.optional(z.boolean()),
  }),
  fails: [
    "account_managed",
    "entity_changed",
    "username_invalid",
    "password_too_short",
    "password_too_long",
    "username_taken",
    "invalid_field",
    "current_password_wrong",
    "too_many_failed_logins",
    "session_required",
    "confirmation_required",
  ],
});

export const selfDelete = endpoint({
  name: "selfDelete",
  method: "DELETE",
  path: "/api/user/self",
  access: "user",
  summary: "Deletes the own account; its name stays taken.",
  fails: ["root_cannot_be_deleted"],
});

export const selfAccessToken = endpoint({
  name: "selfAccessToken",
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

export const compatibleSelfModels = endpoint({
  name: "compatibleSelfModels",
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
  body: z.strictObject({ quota: z.optional(z.int()) }),
  fails: ["invalid_parameter", "invalid_field", "transfer_below_minimum", "invitation_quota_insufficient"],
});

export const SessionView = z.object({
  /** Identifies the session in calls; reveals nothing about its cookie. */
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
  method: "DELETE",
  path: "/api/user/self/sessions/{id}",
  access: "user",
  summary: "Ends one of the caller's sessions.",
  params: z.object({ id: z.string() }),
});

export const selfSessionsEnd = endpoint({
  name: "selfSessionsEnd",
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
  /** Scopes of the token; empty = it may do nothing. */
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
  method: "POST",
  path: "/api/user/self/access_tokens",
  access: "user",
  summary: "Makes or replaces the caller's access token of that name and answers it; it is shown once.",
  body: z.strictObject({
    name: z.string().check(z.maxLength(64)),
    /** Epoch seconds; 0 = never. */
    expires_at: z.optional(z.int().check(z.minimum(0))),
    /**
     * At least one scope: `write` for everything that the caller may do, `read`, or either for one area, such as
     * `channels:read`.
     */
    scopes: z
      .array(z.enum(ACCESS_SCOPES, { error: REASONS.scopes }), { error: REASONS.scopes })
      .check(z.minLength(1, { error: REASONS.scopes }), z.maxLength(ACCESS_SCOPES.length, { error: REASONS.scopes })),
  }),
  data: z.string(),
  fails: ["invalid_field", "too_many_access_tokens"],
});

export const accessTokenDelete = endpoint({
  name: "accessTokenDelete",
  method: "DELETE",
  path: "/api/user/self/access_tokens",
  access: "user",
  summary: "Removes the caller's access token of that name.",
  query: z.object({ name: queryText }),
});
