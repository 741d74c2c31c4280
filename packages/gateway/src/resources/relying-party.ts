import { serverAddress, type OptionValues } from "@fairway/wire";
import type { IncomingMessage } from "node:http";
import type { RequestContext } from "../http/context.ts";
import { findRelyingParty, type RelyingParty } from "../identity/second-factor/relying-party.ts";
import { Refusal } from "../lib/refusal.ts";

export interface PartyDeps {
  readonly options: () => OptionValues;
  /** Address of this server while the option names none. */
  readonly publicUrl: string | undefined;
}

interface PasskeyCall {
  readonly request: IncomingMessage;
  readonly context: RequestContext;
}

/** The page that a call with a passkey comes from. Throws the refusal `passkey_not_verified` for pages of others. */
export function readRelyingParty({ options, publicUrl }: PartyDeps, { request, context }: PasskeyCall): RelyingParty {
  const party = findRelyingParty(request, context.isSecure, serverAddress(options(), publicUrl));
  if (!party) throw new Refusal("passkey_not_verified");
  return party;
}
