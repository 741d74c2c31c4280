import {
  passkeyCreate,
  passkeyDelete,
  passkeyList,
  passkeyLogin,
  passkeyLoginOptions,
  passkeyOptions,
  passkeyRename,
  USER_STATUS,
  type Passkey,
  type SignedInUser,
} from "@fairway/wire";
import { implement, type Principal, type Route } from "../../http/endpoint.ts";
import type { CredentialNotices } from "../../identity/mail/credential-notices.ts";
import type { Enforcement } from "../../identity/providers/enforcement.ts";
import type { Credentials } from "../../identity/passwords/credentials.ts";
import type { Passkeys } from "../../identity/second-factor/passkeys.ts";
import { Refusal } from "../../lib/refusal.ts";
import { readRelyingParty, type PartyDeps } from "../relying-party.ts";
import type { UserStore } from "../users/store.ts";
import { openSession, type Exchange } from "./sign-in.ts";

export interface PasskeyRoutesDeps extends PartyDeps {
  readonly passkeys: Passkeys;
  readonly users: UserStore;
  readonly notices: CredentialNotices;
  readonly credentials: Credentials;
  readonly enforcement: Enforcement;
}

export function passkeyRoutes(deps: PasskeyRoutesDeps): Route[] {
  const { passkeys } = deps;
  return [
    implement(passkeyList, ({ caller }) => passkeys.list(caller.userId)),
    implement(passkeyOptions, (call) => passkeys.creationOptions(call.caller, readRelyingParty(deps, call))),
    implement(passkeyCreate, (call) => {
      const { name = "", response = {} } = call.body;
      return addPasskey(deps, call, { name, response });
    }),
    implement(passkeyRename, async ({ caller, params, body: { name = "" } }) => {
      if (!(await passkeys.rename(caller.userId, params.id, name))) throw new Refusal("passkey_not_found");
    }),
    implement(passkeyDelete, async ({ caller, params, context }) => {
      if (!(await passkeys.remove(caller.userId, params.id))) throw new Refusal("passkey_not_found");
      deps.notices.send({ userId: caller.userId, what: "A passkey was removed.", ip: context.ip });
    }),
    implement(passkeyLoginOptions, (call) => passkeys.loginOptions(readRelyingParty(deps, call))),
    implement(passkeyLogin, (call) => signInByPasskey(deps, call, call.body.response)),
  ];
}

export async function addPasskey(
  deps: PasskeyRoutesDeps,
  call: Exchange & { readonly caller: Principal },
  made: { readonly name: string; readonly response: unknown },
): Promise<Passkey> {
  const passkey = await deps.passkeys.register(call.caller, readRelyingParty(deps, call), made);
  const what = `The passkey "${passkey.name}" was added.`;
  deps.notices.send({ userId: call.caller.userId, what, ip: call.context.ip });
  return passkey;
}

export async function signInByPasskey(
  deps: PasskeyRoutesDeps,
  exchange: Exchange,
  response: unknown,
): Promise<SignedInUser> {
  const user = await deps.users.find(await deps.passkeys.verify(readRelyingParty(deps, exchange), response));
  if (!user || user.deleted_at !== null) throw new Refusal("account_deleted", { status: 200 });
  if (user.status !== USER_STATUS.enabled) throw new Refusal("account_disabled", { status: 200 });
  return openSession(deps, exchange, user);
}
