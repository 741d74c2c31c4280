import {
  passkeyCreate,
  passkeyDelete,
  passkeyList,
  passkeyLogin,
  passkeyLoginOptions,
  passkeyOptions,
  passkeyRename,
  serverAddress,
  USER_STATUS,
  type OptionValues,
  type SignedInUser,
} from "@fairway/wire";
import { implement, type Route } from "../../http/endpoint.ts";
import type { Credentials } from "../../identity/passwords/credentials.ts";
import type { Passkeys } from "../../identity/second-factor/passkeys.ts";
import { relyingPartyOf, type RelyingParty } from "../../identity/second-factor/relying-party.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { UserStore } from "../users/store.ts";
import { openSession, type Exchange } from "./sign-in.ts";

export interface PasskeyRoutesDeps {
  readonly passkeys: Passkeys;
  readonly users: UserStore;
  readonly credentials: Credentials;
  readonly options: () => OptionValues;
  /** Address of this server while the option names none. */
  readonly publicUrl: string | undefined;
}

export function passkeyRoutes(deps: PasskeyRoutesDeps): Route[] {
  const { passkeys } = deps;
  return [
    implement(passkeyList, ({ caller }) => passkeys.list(caller.userId)),
    implement(passkeyOptions, (call) => passkeys.creationOptions(call.caller, partyOf(deps, call))),
    implement(passkeyCreate, (call) => {
      const { name = "", response = {} } = call.body;
      return passkeys.register(call.caller, partyOf(deps, call), { name, response });
    }),
    implement(passkeyRename, async ({ caller, params, body: { name = "" } }) => {
      if (!(await passkeys.rename(caller.userId, params.id, name))) throw new Refusal("F4");
    }),
    implement(passkeyDelete, async ({ caller, params }) => {
      if (!(await passkeys.remove(caller.userId, params.id))) throw new Refusal("F4");
    }),
    implement(passkeyLoginOptions, (call) => passkeys.loginOptions(partyOf(deps, call))),
    implement(passkeyLogin, (call) => signInByPasskey(deps, call, call.body.response)),
  ];
}

export async function signInByPasskey(
  deps: PasskeyRoutesDeps,
  exchange: Exchange,
  response: unknown,
): Promise<SignedInUser> {
  const user = await deps.users.find(await deps.passkeys.verify(partyOf(deps, exchange), response));
  if (!user || user.deleted_at !== null) throw new Refusal("AU8", { status: 200 });
  if (user.status !== USER_STATUS.enabled) throw new Refusal("AU6", { status: 200 });
  return openSession(deps, exchange, user);
}

export type PartyDeps = Pick<PasskeyRoutesDeps, "options" | "publicUrl">;

export function partyOf({ options, publicUrl }: PartyDeps, { request, context }: Exchange): RelyingParty {
  const party = relyingPartyOf(request, context.isSecure, serverAddress(options(), publicUrl));
  if (!party) throw new Refusal("F7");
  return party;
}
