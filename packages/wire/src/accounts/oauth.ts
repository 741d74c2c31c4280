import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { queryText } from "../core/envelope.ts";
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
  query: z.object({ code: queryText, state: queryText }),
  data: z.optional(SignedInUser),
  fails: ["O1", "O2", "G1", "O3", "O4", "O5", "R1", "AU6", "AU8", "AU10", "L5"],
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
  fails: ["O2", "G1", "O3", "R6", "R1", "AU6", "AU8", "L5"],
});

export const oauthWechatBind = endpoint({
  name: "oauthWechatBind",
  credentials: "fresh",
  method: "GET",
  path: "/api/oauth/wechat/bind",
  access: "user",
  rate: "critical",
  hasEffects: true,
  summary: "Binds the caller's WeChat account.",
  query: z.object({ code: queryText }),
  fails: ["O2", "G1", "O3", "R6", "O5"],
});

/** Everything that Telegram signed, as it came; a name given twice is a list. */
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
  fails: ["O2", "O7", "O6", "AU6", "AU8", "L5"],
});

export const oauthTelegramBind = endpoint({
  name: "oauthTelegramBind",
  credentials: "fresh",
  method: "GET",
  path: "/api/oauth/telegram/bind",
  access: "user",
  rate: "critical",
  hasEffects: true,
  withoutUserHeader: true,
  summary: "Binds the caller's Telegram account; a page that navigates here is sent back to the settings.",
  query: telegramQuery,
  fails: ["O2", "O7", "O5"],
});
