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
import type { Transaction } from "kysely";
import { implement, type Principal, type Route } from "../../http/endpoint.ts";
import type { CredentialNotices } from "../../identity/mail/credential-notices.ts";
import type { Enforcement } from "../../identity/providers/enforcement.ts";
import type { Credentials } from "../../identity/passwords/credentials.ts";
import type { Passkeys } from "../../identity/second-factor/passkeys.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { Schema } from "../../storage/tables/schema.ts";
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
      const { userId } = caller;
      const { ip } = context;
      const record = createRemovalRecord(deps, userId, ip);
      if (!(await passkeys.remove(userId, params.id, record))) throw new Refusal("passkey_not_found");
      deps.notices.send({ userId, what: "A passkey was removed.", ip });
    }),
    implement(passkeyLoginOptions, (call) => passkeys.loginOptions(readRelyingParty(deps, call))),
    implement(passkeyLogin, (call) => signInByPasskey(deps, call, call.body.response)),
  ];
}

/** Returns what writes the event of a removed passkey in the transaction of its removal. */
export function createRemovalRecord({ notices }: Pick<PasskeyRoutesDeps, "notices">, userId: number, ip: string) {
  return (trx: Transaction<Schema>) => notices.record(trx, { userId, kind: "passkeys_removed", ip });
}

export async function addPasskey(
  deps: PasskeyRoutesDeps,
  call: Exchange & { readonly caller: Principal },
  made: { readonly name: string; readonly response: unknown },
): Promise<Passkey> {
  const { userId } = call.caller;
  const { ip } = call.context;
  const passkey = await deps.passkeys.register(call.caller, readRelyingParty(deps, call), {
    ...made,
    also: (trx) => deps.notices.record(trx, { userId, kind: "passkey_added", ip }),
  });
  deps.notices.send({ userId, what: `The passkey "${passkey.name}" was added.`, ip });
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
