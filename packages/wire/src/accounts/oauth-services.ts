import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { oauthAnswer } from "./oauth-answer.ts";
import { SignedInUser } from "./users.ts";

const facts = {
  method: "GET",
  access: "none",
  rate: "critical",
  hasEffects: true,
  query: oauthAnswer,
  data: z.optional(SignedInUser),
  fails: [
    "oauth_state_mismatch",
    "oauth_provider_disabled",
    "invalid_parameter",
    "oauth_provider_unreachable",
    "oauth_answer_invalid",
    "oauth_sign_in_refused",
    "oauth_client_refused",
    "oauth_account_already_bound",
    "registration_disabled",
    "account_disabled",
    "account_deleted",
    "confirmation_required",
    "second_factor_required",
  ],
} as const;

export const oauthLinuxdo = endpoint({
  ...facts,
  name: "oauthLinuxdo",
  path: "/api/oauth/linuxdo",
  summary: "Signs in with LINUX DO or, for a caller who is signed in, binds the account (message `bind`).",
});

export const oauthOidc = endpoint({
  ...facts,
  name: "oauthOidc",
  path: "/api/oauth/oidc",
  summary: "Signs in with OpenID Connect or, for a caller who is signed in, binds the account (message `bind`).",
});
