import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { queryText } from "../core/envelope.ts";
import { SignedInUser } from "./users.ts";

export const oauthStart = endpoint({
  name: "oauthStart",
  method: "GET",
  path: "/api/oauth/start",
  access: "none",
  rate: "critical",
  hasEffects: true,
  summary:
    "The address of a sign-in at another service, with state, PKCE challenge and nonce; remembers an invitation code.",
  query: z.object({
    /** `github`, `linuxdo`, `oidc` or the slug of an identity provider. */
    service: queryText,
    aff: queryText,
  }),
  data: z.object({ url: z.string() }),
  fails: ["invalid_parameter", "oauth_provider_disabled", "oauth_provider_unreachable", "oauth_answer_invalid"],
});

export const loginSecondFactor = endpoint({
  name: "loginSecondFactor",
  method: "POST",
  path: "/api/user/login/2fa",
  access: "none",
  rate: "critical",
  summary: "Ends a sign-in by another service, for an account whose two-factor sign-in is on.",
  body: z.strictObject({ code: z.optional(z.string().check(z.maxLength(64))) }),
  data: SignedInUser,
  fails: [
    "invalid_field",
    "sign_in_expired",
    "too_many_failed_logins",
    "second_factor_required",
    "second_factor_wrong",
    "account_disabled",
    "account_deleted",
  ],
});
