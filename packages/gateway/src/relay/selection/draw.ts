import { listedName } from "../../billing/pricing/listed-name.ts";
import type { ChannelRecord } from "../../providers/core/types.ts";
import type { Level } from "../../snapshot/types.ts";
import { planFor } from "./plan.ts";
import { listsIds } from "../request/shared-ids.ts";
import { mapModel } from "../../snapshot/model-mapping.ts";
import { fits, restsUntil } from "./skip-reason.ts";
import type { RouteTarget, SelectionCriteria, SelectionDeps } from "./types.ts";

/** Channels of weight 0 still get traffic. */
export const BASE_WEIGHT = 10;
/** A draw reads all open channels; after this many failed ones, the usable channels are listed once. */
export const MAX_DRAWS = 8;

/** The criteria of one draw. */
export interface Draw extends SelectionCriteria {
  readonly deps: SelectionDeps;
  /** Called for resting keys that are skipped; undefined = resting keys are good enough. */
  readonly onRest: ((until: number) => void) | undefined;
  /** Called for channels that cannot serve now. */
  readonly onSkip?: (channel: ChannelRecord) => void;
  /** Channels and keys that cannot be used at all now; see `keyName`. */
  readonly full?: ReadonlySet<string> | undefined;
}

/** Draws a channel of the level by weight, and one of its keys. */
export function draw(level: Level, group: string, tried: ReadonlySet<number>, request: Draw): RouteTarget | undefined {
  let open = level.channels;
  if (open.length > 1 || tried.size > 0) open = open.filter((channel) => !tried.has(channel.id));
  for (let draws = 0; open.length > 0; draws += 1) {
    if (draws === MAX_DRAWS) open = listUsableChannels(open, group, request);
    const channel = open.length > 1 ? byWeight(open, request.deps.random()) : open[0];
    if (!channel) return undefined;
    const target = mayServe(channel, request) ? targetOn(channel, group, request) : undefined;
    if (target) return target;
    request.onSkip?.(channel);
    open = open.filter((other) => other !== channel);
  }
  return undefined;
}

export function mayServe(channel: ChannelRecord, { spec, full }: Draw): boolean {
  return fits(channel, spec) && !full?.has(String(channel.id));
}

/** A draw reads all open channels, so after a few failed draws they are checked once. The chances stay the same. */
export function listUsableChannels(open: readonly ChannelRecord[], group: string, request: Draw): ChannelRecord[] {
  // Channels that are not chosen must not move on to their next key.
  const trial = { ...request, deps: { ...request.deps, polling: new Map(request.deps.polling) } };
  return open.filter((channel) => {
    const isGood = mayServe(channel, request) && targetOn(channel, group, trial) !== undefined;
    if (!isGood) request.onSkip?.(channel);
    return isGood;
  });
}

/** Undefined if the channel cannot serve the request, or has no key that may be used. */
export function targetOn(channel: ChannelRecord, group: string, request: Draw): RouteTarget | undefined {
  if (request.sharedIds && !listsIds(channel, request.sharedIds)) return undefined;
  const upstreamModel = mapModel(channel.modelMapping, request.spec.model);
  const plan = planFor(channel, request.spec, upstreamModel, request.body);
  if (!plan) return undefined;
  const keyIndex = pickKey(channel, request);
  return keyIndex === undefined ? undefined : { channel, group, plan, upstreamModel, keyIndex };
}

function pickKey(channel: ChannelRecord, { spec, deps, onRest, full }: Draw): number | undefined {
  const { usableKeys } = channel;
  const count = usableKeys?.length ?? channel.keys.length;
  const start = firstKey(channel, count, deps);
  let resting: number | undefined;
  for (let step = 0; step < count; step++) {
    const place = (start + step) % count;
    const index = usableKeys ? (usableKeys[place] as number) : place;
    if (full?.has(keyName(channel.id, index))) continue;
    const until = restsUntil(channel.id, index, listedName(spec.model), deps);
    if (until === 0) return index;
    resting ??= index;
    onRest?.(until);
  }
  return onRest ? undefined : resting;
}

function firstKey({ id, keyMode }: ChannelRecord, count: number, { polling, random }: SelectionDeps): number {
  if (count <= 1) return 0;
  return keyMode === "polling" ? advance(polling, id, count) : Math.floor(random() * count);
}

/** False for a key that was removed, whose index is -1, for a position after the last key, and for a disabled key. */
export function isUsable({ keys, usableKeys }: ChannelRecord, keyIndex: number): boolean {
  return keyIndex >= 0 && keyIndex < keys.length && (usableKeys === undefined || usableKeys.includes(keyIndex));
}

function advance(polling: Map<number, number>, channelId: number, count: number): number {
  const position = (polling.get(channelId) ?? 0) % count;
  polling.set(channelId, position + 1);
  return position;
}

export function byWeight(channels: readonly ChannelRecord[], random: number): ChannelRecord | undefined {
  let total = 0;
  for (const channel of channels) total += channel.weight + BASE_WEIGHT;
  let rest = random * total;
  for (const channel of channels) {
    rest -= channel.weight + BASE_WEIGHT;
    if (rest < 0) return channel;
  }
  return channels[channels.length - 1];
}

/** Returns the name of a key of a channel in the set of full ones. */
export function keyName(channelId: number, keyIndex: number): string {
  return `${channelId} ${keyIndex}`;
}
