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
  body: z.object({ username: text, password: text, code: text }),
  data: SignedInUser,
  fails: ["L1", "L2", "L4", "L3", "L5", "L6"],
});

export const logout = endpoint({
  name: "logout",
  method: "GET",
  path: "/api/user/logout",
  access: "none",
  summary: "Ends the session.",
  hasEffects: true,
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
  body: z.object({
    username: text,
    password: text,
    password2: text,
    email: text,
    verification_code: text,
    aff_code: text,
  }),
  fails: ["R1", "R2", "L2", "R9", "R3", "R10", "R4", "R5", "E2", "R6", "R7", "R8"],
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
  fails: ["E1", "E2", "E3", "E4", "E5", "E6", "E7"],
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
  fails: ["E1", "E2", "E6"],
});

export const resetPassword = endpoint({
  name: "resetPassword",
  method: "POST",
  path: "/api/user/reset",
  access: "none",
  rate: "critical",
  summary: "Exchanges a reset token for a new password.",
  body: z.object({ email: text, token: text }),
  data: z.string(),
  fails: ["G1", "E8"],
});

export const bindEmail = endpoint({
  name: "bindEmail",
  credentials: "fresh",
  method: "GET",
  path: "/api/oauth/email/bind",
  access: "user",
  rate: "critical",
  hasEffects: true,
  summary: "Sets the caller's e-mail address.",
  query: z.object({ email: queryText, code: queryText }),
  fails: ["E1", "E9", "R6", "R8"],
});
