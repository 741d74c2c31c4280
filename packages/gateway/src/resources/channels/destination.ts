import { ROLE } from "@fairway/wire";
import type { RequestSpec } from "../../dialects/core/types.ts";
import { parseObject } from "../../lib/text/json.ts";
import { findSecrets } from "../../lib/text/secret-members.ts";
import { Refusal } from "../../lib/refusal.ts";
import { readProxy } from "../../providers/core/proxy.ts";
import { plainUrl, routeUrl } from "../../providers/core/route-url.ts";
import type { ChannelRecord, ProviderAdapter, UpstreamRoute } from "../../providers/core/types.ts";
import { providerByType } from "../../providers/registry.ts";
import { mapModel } from "../../snapshot/model-mapping.ts";
import { channelRecord, type ChannelRow as RoutingRow } from "../../snapshot/channel-record.ts";
import { SECRET_COLUMNS, secretPath, type SecretTexts } from "../../storage/secrets/channel-texts.ts";

/** The fields of a channel that its addresses can depend on, as the store reads them. */
export type Addressed = Omit<RoutingRow, "id" | "key_sealed" | "channel_info">;

/** Parses the channel as the relay does; the keys are already in clear. */
export function parsedChannel(fields: Addressed, keys: string): ChannelRecord {
  return channelRecord({ ...fields, id: 0, key_sealed: keys, channel_info: null }, (text) => text);
}

/**
 * Returns every server that gets a key of the channel, computed with the functions that build the relay's addresses:
 * the servers of all routes for all keys and models, those that a vendor calls in addition, and the proxy. It includes
 * routes that this channel never uses: the list may name a server that is never called, but it names every server that
 * is called.
 */
export function listDestinations(channel: ChannelRecord): ReadonlySet<string> {
  const found = new Set<string>();
  const add = (read: () => readonly (string | URL)[]) => {
    for (const url of unlessRefused(read)) found.add(toOrigin(url));
  };
  const provider = providerByType(channel.type);
  const proxy = readProxy(channel);
  if (proxy !== undefined) found.add(`${PROXY}${toOrigin(proxy)}`);
  add(() => [plainUrl(provider, channel, "/")]);
  if (!provider) return found.add(`type ${channel.type}`);
  const names = new Set([...channel.models, ...channel.modelMapping.keys(), channel.testModel, ""]);
  for (const key of channel.keys) {
    add(() => provider.otherUrls?.(channel, key) ?? []);
    for (const route of provider.speaks) {
      const urlFor = (name: string) => buildUrl({ provider, route, channel, key }, name);
      const isNamed = listOrigins(SAMPLES, urlFor).size > 1;
      for (const name of isNamed ? names : [...SAMPLES, ...regionNames(channel)]) add(() => [urlFor(name)]);
    }
  }
  return found;
}

const PROXY = "proxy ";
/** Two models that no address mentions. If they lead to different servers, the servers of all models are computed. */
const SAMPLES = ["sample-one", "sample-two"];

interface Way {
  readonly provider: ProviderAdapter;
  readonly route: UpstreamRoute;
  readonly channel: ChannelRecord;
  readonly key: string;
}

function buildUrl({ provider, route, channel, key }: Way, model: string): URL {
  const { operation, dialect } = route;
  const spec: RequestSpec = { operation, dialect, model, ...SMALL };
  return routeUrl(provider, route, channel, { spec, upstreamModel: mapModel(channel.modelMapping, model), key });
}

const SMALL = { stream: false, wantsStreamUsage: false, outputCap: undefined, promptEstimate: 0, units: 1 };

/** Returns the regions of a vendor, which may be listed by model. */
function regionNames({ other }: ChannelRecord): string[] {
  return Object.keys(parseObject(other) ?? {});
}

function listOrigins(names: readonly string[], urlFor: (name: string) => URL): ReadonlySet<string> {
  return new Set(names.flatMap((name) => unlessRefused(() => [toOrigin(urlFor(name))])));
}

/** Returns nothing for an address that cannot be built: the relay cannot call it either. */
function unlessRefused<T>(read: () => readonly T[]): readonly T[] {
  try {
    return read();
  } catch {
    return [];
  }
}

function toOrigin(url: string | URL): string {
  const parsed = URL.parse(String(url));
  return parsed ? `${parsed.protocol}//${parsed.host}`.toLowerCase() : `unreadable ${String(url)}`;
}

/**
 * Throws `key_server_changed` if a stored key would be sent to a server that does not have it yet: a user who may edit
 * a channel must not learn its key that way. The super administrator may; the audit log records the call.
 */
export function checkDestination(
  caller: { readonly role: number },
  stored: () => ChannelRecord,
  next: () => ChannelRecord,
): void {
  if (caller.role >= ROLE.root) return;
  // A channel that cannot be parsed has no server yet.
  const known = new Set(unlessRefused(() => [...listDestinations(stored())]));
  for (const destination of listDestinations(next()))
    if (!known.has(destination)) throw new Refusal("key_server_changed", { field: "key" });
}

/** Checks the tested model, because its name may be part of the address. */
export function checkTestedModel(caller: { readonly role: number }, stored: ChannelRecord, model: string): void {
  checkDestination(
    caller,
    () => stored,
    () => ({ ...stored, testModel: model }),
  );
}

export type RefusesHost = (hostname: string, isProxied: boolean) => boolean;

/** Refuses a channel with an address that no call may reach; an address that it already has may stay. */
export function checkReachable(refusesHost: RefusesHost, next: ChannelRecord, current?: ChannelRecord): void {
  const known = current ? listDestinations(current) : new Set<string>();
  const isProxied = readProxy(next) !== undefined;
  for (const destination of listDestinations(next)) {
    const isProxy = destination.startsWith(PROXY);
    const host = URL.parse(isProxy ? destination.slice(PROXY.length) : destination)?.hostname;
    if (host === undefined || known.has(destination) || !refusesHost(host, isProxied && !isProxy)) continue;
    const field = isProxy ? "setting.proxy" : next.baseUrl.toLowerCase().includes(host) ? "base_url" : "setting";
    throw new Refusal("invalid_field", { field, values: { field, reason: UNREACHABLE } });
  }
}

const UNREACHABLE = "leads to an address that channels may not call, such as a metadata service";

/** A change of a stored channel, before the store writes it. */
export interface ChannelChange {
  readonly current: Addressed;
  readonly next: Addressed;
  /** The stored keys, in clear. */
  readonly keys: string;
  /** True if the change has its own keys, which replace the stored ones. */
  readonly areKeysReplaced: boolean;
}

/**
 * Returns true if a secret of one channel's settings is also in the other's. The password of a proxy does not count:
 * its hint represents it only in the very same address.
 */
export function sharesSecrets(one: SecretTexts, other: SecretTexts): boolean {
  const secrets = new Set(listSecrets(one));
  return listSecrets(other).some((secret) => secrets.has(secret));
}

function listSecrets(texts: SecretTexts): string[] {
  return SECRET_COLUMNS.flatMap((column) => findSecrets(texts[column] ?? "", secretPath(column)))
    .filter(({ isInAddress }) => !isInAddress)
    .map(({ text }) => text);
}

/** Throws a refusal if the change is not allowed. */
export type CheckChange = (change: ChannelChange) => void;

/**
 * Returns the check for all writes of stored channels. It runs while the row is locked, so that two simultaneous
 * changes do no more than two successive ones.
 */
export function destinationCheck(caller: { readonly role: number }): CheckChange | undefined {
  if (caller.role >= ROLE.root) return undefined;
  return ({ current, next, keys, areKeysReplaced }) => {
    if (areKeysReplaced && !sharesSecrets(current, next)) return;
    checkDestination(
      caller,
      () => parsedChannel(current, keys),
      () => parsedChannel(next, keys),
    );
  };
}
