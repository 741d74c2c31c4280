import { listedName } from "../billing/pricing/listed-name.ts";
import { keepTeamChannels } from "../identity/authentication/team-rights.ts";
import type { Caller } from "../identity/authentication/caller.ts";
import { AppError } from "../lib/app-error.ts";
import type { ChannelRecord } from "../providers/core/types.ts";
import { mayUseModel, servingGroups } from "../relay/admission/model-access.ts";
import { listsIds, type SharedIds } from "../relay/request/shared-ids.ts";
import type { Level, Snapshot } from "../snapshot/types.ts";
import { findSupport } from "./accounts.ts";
import { isTooLarge, readRoomLimits, refuseFull, refuseTooLarge } from "./channel-room.ts";
import type { BatchProtocol } from "./protocols/protocol.ts";

/** What the channel of a batch must be able to do. */
export interface BatchNeeds {
  readonly models: readonly string[];
  readonly items: number;
  readonly bytes: number;
  /** Estimated input tokens of all items. */
  readonly tokens: number;
  readonly sharedIds: readonly SharedIds[];
}

export interface BatchTarget {
  readonly channel: ChannelRecord;
  readonly group: string;
}

/** Channels of weight 0 still get batches. */
const BASE_WEIGHT = 10;

/** True if calls of the caller could use the model; a forbidden model is like one that does not exist. */
export function mayBatchModel(caller: Caller, model: string, snapshot: Snapshot): boolean {
  if (!mayUseModel(caller, model)) return false;
  if (caller.pinnedChannel !== undefined) return true;
  return servingGroups(caller, snapshot).some((group) => {
    const listed = snapshot.listed.get(group);
    return listed?.has(model) === true || listed?.has(listedName(model)) === true;
  });
}

interface ChoosingOptions {
  readonly snapshot: Snapshot;
  readonly random: () => number;
  /** Channels that have no room for the batch now. */
  readonly full: ReadonlySet<number>;
}

/** Returns the channel for a batch. Throws AppError that says what is missing. */
export function chooseChannel(
  needs: BatchNeeds,
  caller: Caller,
  protocol: BatchProtocol,
  { snapshot, random, full }: ChoosingOptions,
): BatchTarget {
  const groups = servingGroups(caller, snapshot);
  const able = (channel: ChannelRecord) => canServe(channel, needs, protocol) && !full.has(channel.id);
  if (full.size > 0 && !listAbleChannels(needs, caller, protocol, snapshot).some(able)) throw refuseFull();
  if (caller.pinnedChannel !== undefined) return requirePinned(caller.pinnedChannel, groups, snapshot, able);
  for (const group of groups) {
    const levels = listLevels(snapshot, group, needs.models);
    for (const { channels } of levels) {
      const channel = drawByWeight(keepTeamChannels(channels, caller).filter(able), random());
      if (channel) return { channel, group };
    }
  }
  throw refuse(needs, groups, snapshot, protocol);
}

/** Returns the channels that can serve a batch, whether they have room for it now or not. */
export function listAbleChannels(
  needs: BatchNeeds,
  caller: Caller,
  protocol: BatchProtocol,
  snapshot: Snapshot,
): readonly ChannelRecord[] {
  const { pinnedChannel } = caller;
  const listed =
    pinnedChannel === undefined ? listByGroup(needs, caller, snapshot) : [snapshot.channels.get(pinnedChannel)];
  return [...new Set(listed)].flatMap((channel) => (channel && canServe(channel, needs, protocol) ? [channel] : []));
}

function listByGroup({ models }: BatchNeeds, caller: Caller, snapshot: Snapshot): readonly ChannelRecord[] {
  return servingGroups(caller, snapshot).flatMap((group) =>
    listLevels(snapshot, group, models).flatMap(({ channels }) => keepTeamChannels(channels, caller)),
  );
}

function canServe(channel: ChannelRecord, needs: BatchNeeds, protocol: BatchProtocol): boolean {
  const { items, bytes, tokens, sharedIds } = needs;
  const support = findSupport(channel)?.support;
  if (support?.protocol !== protocol.id || channel.setting["batches"] === false) return false;
  if (items > support.maxItems || bytes > support.maxBytes || isTooLarge(channel, tokens)) return false;
  return sharedIds.every((shared) => listsIds(channel, shared));
}

function requirePinned(
  id: number,
  groups: readonly string[],
  snapshot: Snapshot,
  able: (channel: ChannelRecord) => boolean,
): BatchTarget {
  const channel = snapshot.channels.get(id);
  if (!channel) throw new AppError("channel_not_found");
  if (channel.status !== 1) throw new AppError("channel_disabled");
  if (!able(channel)) throw new AppError("unsupported_by_channel");
  return { channel, group: groups[0] ?? "default" };
}

/** Returns the levels of the first model, with the channels that serve all models. */
function listLevels(snapshot: Snapshot, group: string, models: readonly string[]): readonly Level[] {
  const [first = [], ...others] = models.map((model) => findLevels(snapshot, group, model));
  const sets = others.map((levels) => new Set(levels.flatMap(({ channels }) => channels)));
  return first.map((level) => ({
    ...level,
    channels: level.channels.filter((channel) => sets.every((set) => set.has(channel))),
  }));
}

function findLevels(snapshot: Snapshot, group: string, model: string): readonly Level[] {
  const index = snapshot.index.get(group);
  return index?.get(model) ?? index?.get(listedName(model)) ?? [];
}

function drawByWeight(channels: readonly ChannelRecord[], random: number): ChannelRecord | undefined {
  const sum = channels.reduce((all, { weight }) => all + weight + BASE_WEIGHT, 0);
  let left = random * sum;
  return channels.find(({ weight }) => (left -= weight + BASE_WEIGHT) < 0) ?? channels.at(-1);
}

function refuse(needs: BatchNeeds, groups: readonly string[], snapshot: Snapshot, protocol: BatchProtocol): AppError {
  const { models, sharedIds } = needs;
  const all = groups.flatMap((group) => models.map((model) => findLevels(snapshot, group, model)));
  const serving = all.flat().flatMap(({ channels }) => channels);
  const values = { model: models.join(", ").slice(0, 200), group: groups.join(", ") };
  if (serving.length === 0) return new AppError("no_available_channel", { values });
  const anySize = serving.filter((channel) => canServe(channel, { ...needs, tokens: 0 }, protocol));
  if (anySize.some((channel) => isTooLarge(channel, needs.tokens)))
    return refuseTooLarge(needs.tokens, Math.max(...anySize.map((channel) => readRoomLimits(channel)?.maxTokens ?? 0)));
  const [shared] = sharedIds;
  if (shared && serving.some((channel) => canServe(channel, { ...needs, sharedIds: [] }, protocol)))
    return shared.refusal;
  if (
    models.length > 1 &&
    models.every((model) => canServeAlone(model, groups, snapshot, (channel) => canServe(channel, needs, protocol)))
  )
    return new AppError("unsupported_by_channel", {
      message: "No channel serves all models of this batch: send one batch for each model.",
    });
  return new AppError("unsupported_by_channel", {
    message: `No channel of group ${values.group} takes batches of this protocol for ${values.model}.`,
  });
}

function canServeAlone(
  model: string,
  groups: readonly string[],
  snapshot: Snapshot,
  able: (channel: ChannelRecord) => boolean,
): boolean {
  return groups.some((group) => findLevels(snapshot, group, model).some(({ channels }) => channels.some(able)));
}
