import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { queryText } from "../core/envelope.ts";
import { SignedInUser } from "./users.ts";

const text = z.optional(z.string());

export const login = endpoint({
  name: "login",
  method: "POST",
  path: "/api/user/login",
  access: "none",
  rate: "critical",
  humanCheck: true,
  summary: "Opens a session by user name or e-mail address and password, and a `code` where two-factor sign-in is on.",
  body: z.strictObject({ username: text, password: text, code: text }),
  data: SignedInUser,
  fails: [
    "password_login_disabled",
    "credentials_missing",
    "too_many_failed_logins",
    "credentials_wrong",
    "second_factor_required",
    "second_factor_wrong",
  ],
});

export const logout = endpoint({
  name: "logout",
  method: "GET",
  path: "/api/user/logout",
  access: "none",
  summary: "Ends the session; may name the page of the identity provider that ends its own.",
  hasEffects: true,
  data: z.optional(z.strictObject({ redirect: z.string() })),
});

export const logoutByPost = endpoint({ ...logout, name: "logoutByPost", method: "POST" });

export const register = endpoint({
  name: "register",
  method: "POST",
  path: "/api/user/register",
  access: "none",
  rate: "critical",
  humanCheck: true,
  summary: "Makes an account; signing in is a call of its own.",
  body: z.strictObject({
    username: text,
    password: text,
    password2: text,
    email: text,
    verification_code: text,
    aff_code: text,
  }),
  fails: [
    "registration_disabled",
    "password_registration_disabled",
    "credentials_missing",
    "username_invalid",
    "password_too_short",
    "password_too_long",
    "passwords_differ",
    "email_verification_required",
    "email_invalid",
    "verification_code_wrong",
    "username_taken",
    "email_taken",
  ],
});

export const sendEmailCode = endpoint({
  name: "sendEmailCode",
  method: "GET",
  path: "/api/verification",
  access: "none",
  rate: "critical",
  humanCheck: true,
  hasEffects: true,
  summary:
    "Mails a code that proves an address. The owner of a taken one gets a mail without a code; the answer does not tell.",
  query: z.object({ email: queryText }),
  fails: [
    "email_missing",
    "email_invalid",
    "email_domain_not_allowed",
    "email_alias_not_allowed",
    "email_too_soon",
    "smtp_not_configured",
    "email_not_sent",
  ],
});

export const sendResetLink = endpoint({
  name: "sendResetLink",
  method: "GET",
  path: "/api/reset_password",
  access: "none",
  rate: "critical",
  humanCheck: true,
  hasEffects: true,
  summary: "Mails a reset link, if the address belongs to an account; the answer does not tell.",
  query: z.object({ email: queryText }),
  fails: ["email_missing", "email_invalid", "smtp_not_configured"],
});

export const resetPassword = endpoint({
  name: "resetPassword",
  method: "POST",
  path: "/api/user/reset",
  access: "none",
  rate: "critical",
  summary: "Exchanges a reset token for a new password.",
  body: z.strictObject({ email: text, token: text }),
  data: z.string(),
  fails: ["invalid_parameter", "reset_link_invalid"],
});

export const bindEmail = endpoint({
  name: "bindEmail",
  method: "GET",
  path: "/api/oauth/email/bind",
  access: "user",
  rate: "critical",
  hasEffects: true,
  summary: "Sets the caller's e-mail address.",
  query: z.object({ email: queryText, code: queryText }),
  fails: ["email_missing", "email_code_missing", "verification_code_wrong", "email_taken", "account_managed"],
});
