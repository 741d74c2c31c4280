// Second factors and passkeys under the paths of later compatible consoles.
import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { idParams } from "../core/envelope.ts";
import { SignedInUser } from "../accounts/users.ts";

const codeBody = z.strictObject({ code: z.optional(z.string().check(z.maxLength(64))) });
const browserObject = z.record(z.string(), z.unknown());
/** Options in the format of `navigator.credentials`. */
const ceremony = z.object({ options: z.object({ publicKey: browserObject }) });

export const compatibleFactorState = endpoint({
  name: "compatibleFactorState",
  method: "GET",
  path: "/api/user/2fa/status",
  access: "user",
  summary: "Whether the caller's password login requires a code.",
  data: z.object({ enabled: z.boolean(), locked: z.boolean(), backup_codes_remaining: z.int() }),
});

export const compatibleFactorDisable = endpoint({
  name: "compatibleFactorDisable",
  method: "POST",
  path: "/api/user/2fa/disable",
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

export const compatibleFactorCodes = endpoint({
  name: "compatibleFactorCodes",
  method: "POST",
  path: "/api/user/2fa/backup_codes",
  access: "user",
  rate: "critical",
  summary: "Replaces the recovery codes.",
  body: codeBody,
  data: z.object({ backup_codes: z.array(z.string()) }),
  fails: [
    "invalid_field",
    "two_factor_not_enabled",
    "too_many_failed_logins",
    "second_factor_required",
    "second_factor_wrong",
  ],
});

export const compatiblePasskeyState = endpoint({
  name: "compatiblePasskeyState",
  method: "GET",
  path: "/api/user/passkey",
  access: "user",
  summary: "Whether the caller has a passkey, and when one was last used.",
  data: z.object({
    enabled: z.boolean(),
    /** RFC 3339 in UTC. */
    last_used_at: z.nullable(z.string()),
  }),
});

export const compatiblePasskeyDelete = endpoint({
  name: "compatiblePasskeyDelete",
  method: "DELETE",
  path: "/api/user/passkey",
  access: "user",
  summary: "Removes all of the caller's passkeys.",
});

export const compatiblePasskeyBegin = endpoint({
  name: "compatiblePasskeyBegin",
  method: "POST",
  path: "/api/user/passkey/register/begin",
  access: "user",
  rate: "critical",
  summary: "What `navigator.credentials.create` takes to make a passkey; good for five minutes and once.",
  data: ceremony,
  fails: ["too_many_passkeys", "passkey_not_verified"],
});

export const compatiblePasskeyFinish = endpoint({
  name: "compatiblePasskeyFinish",
  method: "POST",
  path: "/api/user/passkey/register/finish",
  access: "user",
  rate: "critical",
  summary: "Registers the passkey that the browser made; the body is its answer.",
  body: browserObject,
  fails: ["too_many_passkeys", "passkey_already_registered", "passkey_not_verified"],
});

export const compatiblePasskeyLoginBegin = endpoint({
  name: "compatiblePasskeyLoginBegin",
  method: "POST",
  path: "/api/user/passkey/login/begin",
  access: "none",
  rate: "critical",
  summary: "What `navigator.credentials.get` takes to sign in with a passkey; good for five minutes and once.",
  data: ceremony,
  fails: ["passkey_not_verified"],
});

export const compatiblePasskeyLoginFinish = endpoint({
  name: "compatiblePasskeyLoginFinish",
  method: "POST",
  path: "/api/user/passkey/login/finish",
  access: "none",
  rate: "critical",
  summary: "Opens a session with a passkey; the body is the browser's answer.",
  body: browserObject,
  data: SignedInUser,
  fails: ["passkey_not_verified", "account_disabled", "account_deleted"],
});

const resetFacts = {
  method: "DELETE",
  access: "admin",
  params: idParams,
  fails: ["invalid_parameter", "user_not_found", "user_change_not_permitted"],
} as const;

export const compatibleFactorReset = endpoint({
  ...resetFacts,
  name: "compatibleFactorReset",
  path: "/api/user/{id}/2fa",
  summary: "Switches a user's two-factor sign-in off, for who lost his authenticator.",
});

export const compatiblePasskeyReset = endpoint({
  ...resetFacts,
  name: "compatiblePasskeyReset",
  path: "/api/user/{id}/reset_passkey",
  summary: "Removes a user's passkeys, for who lost his devices.",
});
