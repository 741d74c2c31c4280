import { listedName } from "../../billing/pricing/listed-name.ts";
import type { SkipReason } from "@fairway/wire";
import type { Body, RequestSpec } from "../../dialects/core/types.ts";
import type { ChannelRecord } from "../../providers/core/types.ts";
import type { Snapshot } from "../../snapshot/types.ts";
import { planFor } from "./plan.ts";
import { MAX_CANDIDATES, type CandidateEntry } from "../request/traced-route.ts";
import { listsIds, type SharedIds } from "../request/shared-ids.ts";
import type { Breakers } from "./breaker.ts";
import type { Cooldowns } from "./cooldown.ts";
import { mapModel } from "../../snapshot/model-mapping.ts";

/** Why a channel was skipped, with the milliseconds until one of its keys can be used again. */
export type Skip = readonly [reason: SkipReason, restMs?: number];

interface Health {
  readonly cooldowns: Pick<Cooldowns, "until">;
  readonly breakers: Pick<Breakers, "until">;
}

interface Criteria {
  readonly spec: RequestSpec;
  readonly body?: Body | undefined;
  readonly sharedIds?: SharedIds | undefined;
  readonly deps: Health & { readonly now: () => number };
}

/** False if the estimated prompt, in tokens, exceeds what the channel accepts. */
export function fits(channel: ChannelRecord, spec: RequestSpec): boolean {
  return channel.maxInputTokens === 0 || spec.promptEstimate <= channel.maxInputTokens;
}

/** 0 = the key may be used. */
export function restsUntil(
  channelId: number,
  keyIndex: number,
  model: string,
  { cooldowns, breakers }: Health,
): number {
  return Math.max(cooldowns.until(channelId, keyIndex, model), breakers.until(channelId, keyIndex));
}

/** Returns why a channel cannot serve now. */
export function findSkipReason(channel: ChannelRecord, { spec, body, sharedIds, deps }: Criteria): Skip {
  if (!fits(channel, spec)) return ["input_size"];
  if (sharedIds && !listsIds(channel, sharedIds)) return ["unsupported"];
  if (!planFor(channel, spec, mapModel(channel.modelMapping, spec.model), body)) return ["unsupported"];
  const { cooldowns, breakers } = deps;
  const keys = channel.usableKeys ?? channel.keys.keys().toArray();
  const rests = keys.map((index) => ({ index, until: restsUntil(channel.id, index, listedName(spec.model), deps) }));
  const first = rests.toSorted((a, b) => a.until - b.until)[0];
  if (!first) return ["status"];
  if (first.until === 0) return ["limit"];
  const isBroken =
    breakers.until(channel.id, first.index) >= cooldowns.until(channel.id, first.index, listedName(spec.model));
  return [isBroken ? "breaker" : "cooldown", Math.max(0, Math.round(first.until - deps.now()))];
}

/** Channels of a model that serve no request of these groups. */
export interface Unlisted {
  readonly entries: readonly CandidateEntry[];
  readonly count: number;
}

/** By groups and model; finding them reads every channel, a cost that no request should bear. */
const found = new WeakMap<Snapshot, Map<string, Map<string, Unlisted>>>();

/** Returns the channels of the model that are switched off or that serve other groups. `name` is a listed model. */
export function unlisted(snapshot: Snapshot, groups: readonly string[], name: string): Unlisted {
  let byGroups = found.get(snapshot);
  if (!byGroups) found.set(snapshot, (byGroups = new Map<string, Map<string, Unlisted>>()));
  // Most requests have one group, and `join` would copy its name.
  const listedGroups = groups.length === 1 ? (groups[0] ?? "") : groups.join("\n");
  // Two maps, because a key of both names would be built and hashed for every request.
  let byModel = byGroups.get(listedGroups);
  if (!byModel) byGroups.set(listedGroups, (byModel = new Map<string, Unlisted>()));
  let channels = byModel.get(name);
  if (!channels) byModel.set(name, (channels = findUnlisted(snapshot, groups, name)));
  return channels;
}

function findUnlisted({ channels }: Snapshot, groups: readonly string[], name: string): Unlisted {
  const entries = [...channels.values()].flatMap(({ id, models, groups: own, priority, weight, status }) => {
    if (!models.has(name)) return [];
    const group = own.find((one) => groups.includes(one));
    if (group !== undefined && status === 1) return [];
    return [[id, group ?? own[0] ?? "", priority, weight, group === undefined ? "group" : "status"] as const];
  });
  return { entries: entries.slice(0, MAX_CANDIDATES), count: entries.length };
}
