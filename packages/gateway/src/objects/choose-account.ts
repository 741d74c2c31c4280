import { keepTeamChannels } from "../identity/authentication/team-rights.ts";
import type { Caller } from "../identity/authentication/caller.ts";
import { listedName } from "../billing/pricing/listed-name.ts";
import { AppError } from "../lib/app-error.ts";
import type { ChannelRecord, ObjectDialect } from "../providers/core/types.ts";
import { providerByType } from "../providers/registry.ts";
import { admitModel, mayUseModel, servingGroups } from "../relay/admission/model-access.ts";
import { isUsable } from "../relay/selection/draw.ts";
import { restsUntil } from "../relay/selection/skip-reason.ts";
import type { SelectionDeps } from "../relay/selection/types.ts";
import type { Snapshot } from "../snapshot/types.ts";
import type { OpenAccount } from "./account.ts";

/** What is known about an upload when its channel is chosen. */
export interface UploadWish {
  readonly caller: Caller;
  readonly dialect: ObjectDialect;
  /** The model that the client named for the choice; its key must be allowed to use it. */
  readonly model?: string | undefined;
  /** The model inside of the file; without effect if the caller may not use it. */
  readonly modelInside?: string | undefined;
}

export type ChooseDeps = Pick<SelectionDeps, "cooldowns" | "breakers" | "random" | "now">;

/** Channels of weight 0 still get uploads. */
const BASE_WEIGHT = 10;

/** Returns the accounts that may take an upload, best first; throws `unsupported_by_channel` if there are none. */
export function chooseAccounts(wish: UploadWish, snapshot: Snapshot, deps: ChooseDeps): readonly OpenAccount[] {
  const { caller, dialect, model } = wish;
  if (model !== undefined) admitModel(caller, { model });
  const channels =
    caller.pinnedChannel === undefined
      ? keepTeamChannels(listChannels(wish, snapshot, deps), caller)
      : [requirePinned(caller.pinnedChannel, snapshot)];
  const accounts = channels.flatMap((channel) => openAccount(channel, dialect, deps) ?? []);
  if (accounts.length > 0) return accounts;
  const group = servingGroups(caller, snapshot).join(", ");
  throw new AppError("unsupported_by_channel", {
    message: `No channel of group ${group} stores files for this protocol.`,
  });
}

function requirePinned(id: number, { channels }: Snapshot): ChannelRecord {
  const channel = channels.get(id);
  if (!channel) throw new AppError("channel_not_found");
  if (channel.status !== 1) throw new AppError("channel_disabled");
  return channel;
}

function listChannels(wish: UploadWish, snapshot: Snapshot, { random }: ChooseDeps): readonly ChannelRecord[] {
  const { caller, model, modelInside } = wish;
  const groups = servingGroups(caller, snapshot);
  if (model !== undefined) return listByModel(model, groups, snapshot, random);
  if (modelInside !== undefined && mayUseModel(caller, modelInside)) {
    const found = listByModel(modelInside, groups, snapshot, random);
    if (found.length > 0) return found;
  }
  const named = groups.flatMap((group) => snapshot.options.FileChannels[group] ?? []);
  const all = [...snapshot.channels.values()].filter(({ status }) => status === 1);
  if (named.length > 0) return named.flatMap((name) => all.filter(({ id, tag }) => name === id || name === tag));
  return groups.flatMap((group) =>
    byPriority(
      all.filter((channel) => channel.groups.includes(group)),
      random,
    ),
  );
}

function listByModel(
  model: string,
  groups: readonly string[],
  { index }: Snapshot,
  random: () => number,
): ChannelRecord[] {
  const levels = groups.flatMap((group) => index.get(group)?.get(listedName(model)) ?? []);
  return levels.flatMap(({ channels }) => shuffle(channels, random));
}

function byPriority(channels: readonly ChannelRecord[], random: () => number): ChannelRecord[] {
  return shuffle(channels, random).toSorted((a, b) => b.priority - a.priority);
}

/** Draws one channel after the other by weight. */
function shuffle(channels: readonly ChannelRecord[], random: () => number): ChannelRecord[] {
  const draws = channels.map((channel) => ({
    channel,
    place: -Math.log(1 - random()) / (channel.weight + BASE_WEIGHT),
  }));
  return draws.toSorted((a, b) => a.place - b.place).map(({ channel }) => channel);
}

/** Undefined if the channel stores no files in this protocol, or has no key that may be used. */
function openAccount(channel: ChannelRecord, dialect: ObjectDialect, deps: ChooseDeps): OpenAccount | undefined {
  const service = providerByType(channel.type)?.files;
  if (service?.dialect !== dialect || channel.setting["files"] === false) return undefined;
  const usable = channel.keys
    .keys()
    .filter((index) => isUsable(channel, index))
    .toArray();
  const rested = usable.filter((index) => restsUntil(channel.id, index, "", deps) === 0);
  const open = rested.length > 0 ? rested : usable;
  const keyIndex = open[Math.floor(deps.random() * open.length)];
  return keyIndex === undefined ? undefined : { channel, keyIndex, service };
}
