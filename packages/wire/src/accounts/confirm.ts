import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";

/** Seconds after a sign-in or a confirmation in which credentials can be changed. */
export const PROOF_SECONDS = 300;

export const selfConfirm = endpoint({
  name: "selfConfirm",
  method: "POST",
  path: "/api/user/self/confirm",
  access: "user",
  rate: "critical",
  summary:
    "Confirms the session for 5 minutes of changes to credentials: by `passkey`, by `code` where two-factor sign-in is on, else by `password`.",
  body: z.strictObject({
    password: z.optional(z.string()),
    code: z.optional(z.string().check(z.maxLength(64))),
    /** The browser's response to the options of `POST /api/user/passkey/options`. */
    passkey: z.optional(z.record(z.string(), z.unknown())),
  }),
  fails: [
    "invalid_field",
    "current_password_wrong",
    "too_many_failed_logins",
    "second_factor_required",
    "second_factor_wrong",
    "passkey_not_verified",
  ],
});
