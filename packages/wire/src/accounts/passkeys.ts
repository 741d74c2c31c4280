import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { idParams } from "../core/envelope.ts";
import { SignedInUser } from "./users.ts";

export const PASSKEY_MAX = 20;
export const PASSKEY_NAME_MAX = 64;

const passkeyName = z.optional(z.string().check(z.maxLength(PASSKEY_NAME_MAX)));

/** The JSON form of `navigator.credentials` values; passed on without being read. */
const browserObject = z.record(z.string(), z.unknown());

export const Passkey = z.object({
  id: z.int(),
  name: z.string(),
  created_at: z.int(),
  /** 0 = never. */
  last_used_at: z.int(),
});
export type Passkey = z.output<typeof Passkey>;

export const passkeyList = endpoint({
  name: "passkeyList",
  method: "GET",
  path: "/api/user/self/passkeys",
  access: "user",
  summary: "The caller's passkeys.",
  data: z.array(Passkey),
});

export const passkeyOptions = endpoint({
  name: "passkeyOptions",
  method: "POST",
  path: "/api/user/self/passkeys/options",
  access: "user",
  rate: "critical",
  summary: "What `navigator.credentials.create` takes to make a passkey; good for five minutes and once.",
  data: browserObject,
  fails: ["too_many_passkeys"],
});

export const passkeyCreate = endpoint({
  name: "passkeyCreate",
  method: "POST",
  path: "/api/user/self/passkeys",
  access: "user",
  rate: "critical",
  summary: "Registers the passkey that the browser made.",
  body: z.strictObject({ name: passkeyName, response: z.optional(browserObject) }),
  data: Passkey,
  fails: ["invalid_field", "too_many_passkeys", "passkey_already_registered", "passkey_not_verified"],
});

export const passkeyRename = endpoint({
  name: "passkeyRename",
  method: "PUT",
  path: "/api/user/self/passkeys/{id}",
  access: "user",
  summary: "Renames one of the caller's passkeys.",
  params: idParams,
  body: z.strictObject({ name: passkeyName }),
  fails: ["invalid_parameter", "invalid_field", "passkey_not_found"],
});

export const passkeyDelete = endpoint({
  name: "passkeyDelete",
  method: "DELETE",
  path: "/api/user/self/passkeys/{id}",
  access: "user",
  summary: "Removes one of the caller's passkeys.",
  params: idParams,
  fails: ["invalid_parameter", "passkey_not_found"],
});

export const passkeyLoginOptions = endpoint({
  name: "passkeyLoginOptions",
  method: "POST",
  path: "/api/user/passkey/options",
  access: "none",
  rate: "critical",
  summary: "What `navigator.credentials.get` takes to sign in with a passkey; good for five minutes and once.",
  data: browserObject,
});

export const passkeyLogin = endpoint({
  name: "passkeyLogin",
  method: "POST",
  path: "/api/user/passkey/login",
  access: "none",
  rate: "critical",
  summary: "Opens a session with a passkey; it stands for password and second factor.",
  body: z.strictObject({ response: z.optional(browserObject) }),
  data: SignedInUser,
  fails: ["invalid_field", "passkey_not_verified", "account_disabled", "account_deleted"],
});
