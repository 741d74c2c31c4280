import { AppError } from "../lib/app-error.ts";
import { providerByType } from "../providers/registry.ts";
import type { ChannelRecord } from "../providers/core/types.ts";
import { admitModel, servingGroups } from "../relay/admission/model-access.ts";
import { isTeamModel, keepTeamChannels } from "../identity/authentication/team-rights.ts";
import type { Caller } from "../identity/authentication/caller.ts";
import type { Snapshot } from "../snapshot/types.ts";

/** A channel that may take a task, and the group that it serves. */
export interface TaskTarget {
  readonly channel: ChannelRecord;
  readonly group: string;
}

export interface TaskChannelRules {
  /** 0 <= x < 1. */
  readonly random: () => number;
  /** Default: every kind of task channel. */
  readonly serves?: (channel: ChannelRecord) => boolean;
  /** The model as the client requested it, named in refusals. Default: the first of the names. */
  readonly asked?: string | undefined;
}

/** Channels of weight 0 still get traffic. */
const BASE_WEIGHT = 10;

/**
 * Returns all channels that may take the task, best first. Throws the error for the client if there is none.
 * @param names under which the task may be listed; the first one that is listed decides
 */
export function taskChannels(
  snapshot: Snapshot,
  caller: Caller,
  names: string | readonly string[],
  { random, serves = isTaskChannel, asked }: TaskChannelRules,
): TaskTarget[] {
  const wanted = typeof names === "string" ? [names] : names;
  const allowed = wanted.filter((model) => caller.modelLimits?.has(model) !== false && isTeamModel(caller, model));
  const model = asked ?? wanted[0] ?? "";
  if (allowed.length === 0) admitModel(caller, { model });
  const groups = servingGroups(caller, snapshot);
  if (caller.pinnedChannel !== undefined) return [pinned(snapshot, caller.pinnedChannel, groups, serves)];
  for (const name of allowed) {
    const found = groups.flatMap((group) =>
      (snapshot.index.get(group)?.get(name) ?? []).flatMap(({ channels }) =>
        shuffled(keepTeamChannels(channels, caller).filter(serves), random).map((channel) => ({ channel, group })),
      ),
    );
    if (found.length > 0) return found;
  }
  const values = { model, group: groups.join(", ") };
  const isListed = groups.some((group) => allowed.some((name) => snapshot.listed.get(group)?.has(name)));
  throw new AppError(isListed ? "no_available_channel" : "model_not_found", { param: "model", values });
}

function pinned(
  snapshot: Snapshot,
  id: number,
  groups: readonly string[],
  serves: (channel: ChannelRecord) => boolean,
): TaskTarget {
  const channel = snapshot.channels.get(id);
  if (!channel) throw new AppError("channel_not_found");
  if (channel.status !== 1) throw new AppError("channel_disabled");
  if (!serves(channel)) throw new AppError("unsupported_by_channel");
  return { channel, group: groups[0] ?? "default" };
}

function isTaskChannel({ type }: ChannelRecord): boolean {
  return providerByType(type)?.isTask === true;
}

/** Shuffles the channels; heavier ones tend to the front. */
function shuffled(channels: readonly ChannelRecord[], random: () => number): ChannelRecord[] {
  return channels
    .map((channel) => ({ channel, at: random() ** (1 / (channel.weight + BASE_WEIGHT)) }))
    .toSorted((one, other) => other.at - one.at)
    .map(({ channel }) => channel);
}
