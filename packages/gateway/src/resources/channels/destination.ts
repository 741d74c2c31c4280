import { ROLE } from "@fairway/wire";
import { Refusal } from "../../lib/refusal.ts";
import { providerByType } from "../../providers/registry.ts";

/** The fields of a channel that decide where its key is sent. */
export interface Addressed {
  readonly type: number;
  readonly base_url: string;
  readonly setting: string | null;
  readonly model_mapping: string;
}

const ADDRESS = /\b(?:https?|wss?|socks[45]?[ah]?):\\?\/\\?\/[^\s"'\\/?#]+/gi;

/**
 * Every server that gets the key of a channel: the origin of its base URL, or its type where it has none, and the
 * addresses in its settings (a proxy, whole URLs in place of paths).
 */
export function destinationsOf({ type, base_url, setting, model_mapping }: Addressed): ReadonlySet<string> {
  const base = originOf(base_url) ?? originOf(providerByType(type)?.baseUrl ?? "");
  const inSettings = (setting ?? "").match(ADDRESS) ?? [];
  const found = new Set([base ?? `type ${type} ${base_url}`.trim(), ...inSettings.map(lowerCase)]);
  // A name in the place of the host makes the mapping a part of the address.
  if (/^[^/]*\/\/[^/]*[{%]/.test(base_url)) found.add(`models ${model_mapping}`);
  return found;
}

/**
 * Refuses with `key_server_changed` to send a stored key to a server that does not have it yet: a user that may edit a channel must not
 * learn its key that way. The super administrator may; the audit log has the call.
 */
export function checkDestination(caller: { readonly role: number }, stored: Addressed, next: Addressed): void {
  if (caller.role >= ROLE.root) return;
  const known = destinationsOf(stored);
  for (const destination of destinationsOf(next))
    if (!known.has(destination)) throw new Refusal("key_server_changed", { field: "key" });
}

function originOf(address: string): string | undefined {
  return URL.canParse(address)
    ? lowerCase(new URL(address).host === "" ? address : `${new URL(address).protocol}//${new URL(address).host}`)
    : undefined;
}

function lowerCase(text: string): string {
  return text.toLowerCase();
}
