import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { queryText } from "../core/envelope.ts";
import { oauthAnswer } from "./oauth-answer.ts";
import { SignedInUser } from "./users.ts";

export const oauthState = endpoint({
  name: "oauthState",
  method: "GET",
  path: "/api/oauth/state",
  access: "none",
  rate: "critical",
  hasEffects: true,
  summary: "A state for a sign-in at another service; remembers an invitation code.",
  query: z.object({ aff: queryText }),
  data: z.string(),
});

export const oauthGithub = endpoint({
  name: "oauthGithub",
  method: "GET",
  path: "/api/oauth/github",
  access: "none",
  rate: "critical",
  hasEffects: true,
  summary: "Signs in with GitHub or, for a caller who is signed in, binds the account (message `bind`).",
  query: oauthAnswer,
  data: z.optional(SignedInUser),
  fails: [
    "oauth_state_mismatch",
    "oauth_provider_disabled",
    "invalid_parameter",
    "oauth_provider_unreachable",
    "oauth_answer_invalid",
    "oauth_sign_in_refused",
    "oauth_account_already_bound",
    "registration_disabled",
    "account_disabled",
    "account_deleted",
    "confirmation_required",
    "second_factor_required",
  ],
});

export const oauthWechat = endpoint({
  name: "oauthWechat",
  method: "GET",
  path: "/api/oauth/wechat",
  access: "none",
  rate: "critical",
  hasEffects: true,
  summary: "Signs in with a code of the WeChat account.",
  query: z.object({ code: queryText }),
  data: SignedInUser,
  fails: [
    "oauth_provider_disabled",
    "invalid_parameter",
    "oauth_provider_unreachable",
    "verification_code_wrong",
    "registration_disabled",
    "account_disabled",
    "account_deleted",
    "second_factor_required",
  ],
});

export const oauthWechatBind = endpoint({
  name: "oauthWechatBind",
  method: "GET",
  path: "/api/oauth/wechat/bind",
  access: "user",
  rate: "critical",
  hasEffects: true,
  summary: "Binds the caller's WeChat account.",
  query: z.object({ code: queryText }),
  fails: [
    "oauth_provider_disabled",
    "invalid_parameter",
    "oauth_provider_unreachable",
    "verification_code_wrong",
    "oauth_account_already_bound",
  ],
});

/** Everything that Telegram signed, unchanged; a repeated name becomes a list. */
const telegramQuery = z.record(z.string(), z.union([z.string(), z.array(z.string())]));

export const oauthTelegram = endpoint({
  name: "oauthTelegram",
  method: "GET",
  path: "/api/oauth/telegram/login",
  access: "none",
  rate: "critical",
  hasEffects: true,
  summary: "Signs in with the data of the Telegram widget.",
  query: telegramQuery,
  data: SignedInUser,
  fails: [
    "oauth_provider_disabled",
    "telegram_authorization_invalid",
    "telegram_account_not_bound",
    "account_disabled",
    "account_deleted",
    "second_factor_required",
  ],
});

export const oauthTelegramBind = endpoint({
  name: "oauthTelegramBind",
  method: "GET",
  path: "/api/oauth/telegram/bind",
  access: "user",
  rate: "critical",
  hasEffects: true,
  withoutUserHeader: true,
  summary: "Binds the caller's Telegram account; a page that navigates here is sent back to the settings.",
  query: telegramQuery,
  fails: ["oauth_provider_disabled", "telegram_authorization_invalid", "oauth_account_already_bound"],
});
