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

/** The channel as the relay would read it, with keys that are in clear already. */
export function parsedChannel(fields: Addressed, keys: string): ChannelRecord {
  return channelRecord({ ...fields, id: 0, key_sealed: keys, channel_info: null }, (text) => text);
}

/**
 * Every server that gets a key of the channel, by the functions with which the relay builds its addresses: those of all
 * routes for all keys and models, those that a vendor calls in addition, and the proxy. Routes count that this channel
 * never takes: a server may be named that is never called, but none is called that is not named.
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
/** Two models that no address names by itself: where their servers differ, those of all models are asked for. */
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

/** A vendor's regions may be listed by model. */
function regionNames({ other }: ChannelRecord): string[] {
  return Object.keys(parseObject(other) ?? {});
}

function listOrigins(names: readonly string[], urlFor: (name: string) => URL): ReadonlySet<string> {
  return new Set(names.flatMap((name) => unlessRefused(() => [toOrigin(urlFor(name))])));
}

/** The relay does not call what it cannot build either. */
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
 * Refuses with `key_server_changed` to send a stored key to a server that does not have it yet: a user that may edit a
 * channel must not learn its key that way. The super administrator may; the audit log has the call.
 */
export function checkDestination(
  caller: { readonly role: number },
  stored: () => ChannelRecord,
  next: () => ChannelRecord,
): void {
  if (caller.role >= ROLE.root) return;
  // A channel that cannot be read has no server yet.
  const known = new Set(unlessRefused(() => [...listDestinations(stored())]));
  for (const destination of listDestinations(next()))
    if (!known.has(destination)) throw new Refusal("key_server_changed", { field: "key" });
}

/** The name of a model may be a part of the address. */
export function checkTestedModel(caller: { readonly role: number }, stored: ChannelRecord, model: string): void {
  checkDestination(
    caller,
    () => stored,
    () => ({ ...stored, testModel: model }),
  );
}

export type RefusesHost = (hostname: string, isProxied: boolean) => boolean;

/** Refuses a channel at an address that no call would reach; one that it has already may stay. */
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

/** A change of a stored channel, as the store is about to write it. */
export interface ChannelChange {
  readonly current: Addressed;
  readonly next: Addressed;
  /** The stored keys, in clear. */
  readonly keys: string;
  /** The change brings keys of its own, and the stored ones go. */
  readonly areKeysReplaced: boolean;
}

/**
 * True where a secret of one channel's settings would also be in the other's. The password of a proxy counts not: its
 * hint stands for it in the very same address alone.
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

/** Throws the refusal of a change. */
export type CheckChange = (change: ChannelChange) => void;

/** For all writes of stored channels; runs where the row is locked, so that two changes together do no more than one after the other. */
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
