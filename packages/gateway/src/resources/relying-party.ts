import { serverAddress, type OptionValues } from "@fairway/wire";
import type { IncomingMessage } from "node:http";
import type { RequestContext } from "../http/context.ts";
import { findRelyingParty, type RelyingParty } from "../identity/second-factor/relying-party.ts";
import { Refusal } from "../lib/refusal.ts";

export interface PartyDeps {
  readonly options: () => OptionValues;
  /** Public address of this server, used while the option is not set. */
  readonly publicUrl: string | undefined;
}

interface PasskeyCall {
  readonly request: IncomingMessage;
  readonly context: RequestContext;
}

/** Returns the page that calls with a passkey. Throws `passkey_not_verified` if the page is not ours. */
export function readRelyingParty({ options, publicUrl }: PartyDeps, { request, context }: PasskeyCall): RelyingParty {
  const party = findRelyingParty(request, context.isSecure, serverAddress(options(), publicUrl));
  if (!party) throw new Refusal("passkey_not_verified");
  return party;
}
