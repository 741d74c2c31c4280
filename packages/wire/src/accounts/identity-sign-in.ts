import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { SignInOffer } from "./sign-in-offer.ts";
import { oauthAnswer } from "./oauth-answer.ts";
import { SignedInUser } from "./users.ts";

const slugParams = z.object({ slug: z.string() });

export const oauthProvider = endpoint({
  name: "oauthProvider",
  method: "GET",
  path: "/api/oauth/{slug}",
  access: "none",
  rate: "critical",
  hasEffects: true,
  summary:
    "Signs in with an identity provider or, for a caller who is signed in, links the account (message `bind`) or confirms it (message `confirm`).",
  params: slugParams,
  query: oauthAnswer,
  data: z.optional(SignedInUser),
  fails: [
    "identity_provider_not_found",
    "oauth_state_mismatch",
    "oauth_provider_disabled",
    "invalid_parameter",
    "oauth_provider_unreachable",
    "oauth_answer_invalid",
    "oauth_sign_in_refused",
    "oauth_client_refused",
    "oauth_account_already_bound",
    "identity_not_linked",
    "identity_address_taken",
    "account_disabled",
    "account_deleted",
    "confirmation_required",
    "second_factor_required",
  ],
});

export const oauthBackchannel = endpoint({
  name: "oauthBackchannel",
  method: "POST",
  path: "/api/oauth/{slug}/backchannel",
  access: "none",
  summary: "Ends sessions when the provider says that a person has signed out there (OpenID back-channel logout).",
  params: slugParams,
  answer: "raw",
  isCrossOrigin: true,
  bodyBytes: 64 * 1024,
});

export const identityDiscover = endpoint({
  name: "identityDiscover",
  method: "POST",
  path: "/api/identity/discover",
  access: "none",
  rate: "critical",
  summary: "The identity provider of a mail domain, whether or not there is an account; null if none has the domain.",
  body: z.strictObject({ login: z.string().check(z.maxLength(320)) }),
  data: z.nullable(SignInOffer),
});
