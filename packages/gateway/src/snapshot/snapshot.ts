import { CHANNEL_STATUS } from "@fairway/wire";
import type { ChannelRecord } from "../providers/core/types.ts";
import { resolveBalancingPolicy } from "./balancing-policy.ts";
import { resolveCachePolicy } from "./cache-policy.ts";
import { resolveFallbackPolicy } from "./fallback-policy.ts";
import { resolveGuardrailPolicy } from "./guardrail-policy.ts";
import { resolveTagSettings } from "./tag-policy.ts";
import type { Level, Snapshot } from "./types.ts";

/** The fields of a channel that the error for a missing model requires; includes unusable channels. */
export interface Listing {
  readonly groups: readonly string[];
  readonly models: ReadonlySet<string>;
}

export interface SnapshotParts extends Pick<Snapshot, "revision" | "options" | "prices"> {
  readonly channels: readonly ChannelRecord[];
  /** Channels that could not be read. */
  readonly unusable: readonly Listing[];
}

/** Indexes the parts for lookups by requests. */
export function createSnapshot({ revision, options, prices, channels, unusable }: SnapshotParts): Snapshot {
  const enabled = channels.filter((channel) => channel.status === CHANNEL_STATUS.enabled);
  return Object.freeze({
    revision,
    options,
    prices,
    guardrail: resolveGuardrailPolicy(options),
    responseCache: resolveCachePolicy(options),
    fallbacks: resolveFallbackPolicy(options),
    balancing: resolveBalancingPolicy(options),
    tags: resolveTagSettings(options),
    channels: new Map(channels.map((channel) => [channel.id, channel])),
    index: buildIndex(enabled),
    listed: listedIn([...channels, ...unusable]),
  });
}

function buildIndex(channels: readonly ChannelRecord[]): Snapshot["index"] {
  const index = new Map<string, Map<string, ChannelRecord[]>>();
  for (const channel of channels) {
    for (const group of channel.groups) {
      const models = entry(index, group, () => new Map<string, ChannelRecord[]>());
      for (const model of channel.models) entry(models, model, () => []).push(channel);
    }
  }
  const levels = levelCache();
  return new Map(
    [...index].map(([group, models]) => [group, new Map([...models].map(([model, list]) => [model, levels(list)]))]),
  );
}

/** Caches levels, because most models of a group have the same channels and can share the same levels. */
function levelCache(): (channels: readonly ChannelRecord[]) => readonly Level[] {
  const known = new Map<string, readonly Level[]>();
  return (channels) => entry(known, channels.map((channel) => channel.id).join(), () => buildLevels(channels));
}

function buildLevels(channels: readonly ChannelRecord[]): readonly Level[] {
  const byPriority = new Map<number, ChannelRecord[]>();
  for (const channel of channels) entry(byPriority, channel.priority, () => []).push(channel);
  const levels = [...byPriority].sort(([a], [b]) => b - a);
  return Object.freeze(levels.map(([priority, list]) => Object.freeze({ priority, channels: Object.freeze(list) })));
}

function listedIn(channels: readonly Listing[]): Snapshot["listed"] {
  const listed = new Map<string, Set<string>>();
  for (const { groups, models } of channels) {
    for (const group of groups) {
      const names = entry(listed, group, () => new Set<string>());
      for (const model of models) names.add(model);
    }
  }
  return listed;
}

function entry<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const value = create();
  map.set(key, value);
  return value;
}
