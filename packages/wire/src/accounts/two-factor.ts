import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { idParams } from "../core/envelope.ts";

const PATH = "/api/user/self/two_factor";

/** Six digits of the authenticator, or one of the recovery codes. */
const codeBody = z.strictObject({ code: z.optional(z.string().check(z.maxLength(64))) });

export const TwoFactorState = z.object({ enabled: z.boolean(), recovery_codes_left: z.int() });
export type TwoFactorState = z.output<typeof TwoFactorState>;

/** Shown only once, because only their hashes are stored. */
const recoveryCodes = z.object({ recovery_codes: z.array(z.string()) });

export const twoFactorGet = endpoint({
  name: "twoFactorGet",
  method: "GET",
  path: PATH,
  access: "user",
  summary: "Whether the caller's password login requires a code, and how many recovery codes are left.",
  data: TwoFactorState,
});

export const twoFactorBegin = endpoint({
  name: "twoFactorBegin",
  method: "POST",
  path: PATH,
  access: "user",
  rate: "critical",
  summary: "A new secret for an authenticator; it has no effect until it is confirmed.",
  data: z.object({
    /** Secret in base32, for manual entry. */
    secret: z.string(),
    /** `otpauth://` address, for a QR code. */
    url: z.string(),
  }),
  fails: ["two_factor_already_enabled"],
});

export const twoFactorConfirm = endpoint({
  name: "twoFactorConfirm",
  method: "POST",
  path: `${PATH}/confirm`,
  access: "user",
  rate: "critical",
  summary: "Switches two-factor sign-in on with a first code and answers the recovery codes.",
  body: codeBody,
  data: recoveryCodes,
  fails: [
    "invalid_field",
    "two_factor_already_enabled",
    "two_factor_secret_missing",
    "too_many_failed_logins",
    "second_factor_required",
    "second_factor_wrong",
  ],
});

export const twoFactorCodes = endpoint({
  name: "twoFactorCodes",
  method: "POST",
  path: `${PATH}/recovery_codes`,
  access: "user",
  rate: "critical",
  summary: "Replaces the recovery codes.",
  body: codeBody,
  data: recoveryCodes,
  fails: [
    "invalid_field",
    "two_factor_not_enabled",
    "too_many_failed_logins",
    "second_factor_required",
    "second_factor_wrong",
  ],
});

export const twoFactorDisable = endpoint({
  name: "twoFactorDisable",
  method: "POST",
  path: `${PATH}/disable`,
  access: "user",
  rate: "critical",
  summary: "Switches two-factor sign-in off.",
  body: codeBody,
  fails: [
    "invalid_field",
    "two_factor_not_enabled",
    "too_many_failed_logins",
    "second_factor_required",
    "second_factor_wrong",
  ],
});

export const userTwoFactorReset = endpoint({
  name: "userTwoFactorReset",
  method: "DELETE",
  path: "/api/user/{id}/two_factor",
  access: "admin",
  summary: "Switches a user's two-factor sign-in off and removes his passkeys, for who lost his devices.",
  params: idParams,
  fails: ["invalid_parameter", "user_not_found", "user_change_not_permitted"],
});
