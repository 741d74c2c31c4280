import { AppError } from "../../lib/app-error.ts";
import type { Snapshot } from "../../snapshot/types.ts";
import { listsIds } from "../request/shared-ids.ts";
import { listedName } from "../../billing/pricing/listed-name.ts";
import type { ObjectDialect } from "../../providers/core/types.ts";
import type { PinnedAccount } from "../request/request.ts";
import { isUsable, targetOn } from "./draw.ts";
import type { RouteTarget, Selection, SelectionCriteria, SelectionDeps } from "./types.ts";

/** Returns a channel that an administrator named with the key; it need not list the model. */
export function pinnedTarget(
  snapshot: Snapshot,
  pin: { readonly channelId: number; readonly group: string },
  criteria: SelectionCriteria,
  deps: SelectionDeps,
): RouteTarget {
  const channel = snapshot.channels.get(pin.channelId);
  if (!channel) throw new AppError("channel_not_found");
  if (channel.status !== 1) throw new AppError("channel_disabled");
  if (criteria.sharedIds && !listsIds(channel, criteria.sharedIds)) throw criteria.sharedIds.refusal;
  const target = targetOn(channel, pin.group, { ...criteria, deps, onRest: undefined });
  if (!target) throw new AppError("unsupported_by_channel");
  return target;
}

/**
 * Returns the account that stores what a request continues. Throws `previous_response_unavailable`, also for a key that
 * was removed, whose index is -1.
 */
export function pinnedAccountTarget(
  snapshot: Snapshot,
  account: { readonly channelId: number; readonly keyIndex: number; readonly group: string },
  criteria: SelectionCriteria,
  deps: SelectionDeps,
): RouteTarget {
  const channel = snapshot.channels.get(account.channelId);
  if (channel?.status !== 1 || !isUsable(channel, account.keyIndex))
    throw new AppError("previous_response_unavailable");
  const target = pinnedTarget(snapshot, account, criteria, deps);
  return { ...target, keyIndex: account.keyIndex };
}

/** Protocols in which requests name files of this kind. */
const FILE_ROUTES: Readonly<Record<ObjectDialect, RegExp>> = {
  openai: /^openai-/,
  anthropic: /^anthropic-/,
  gemini: /^gemini-/,
};

/**
 * Returns the account that stores a file of the request, in a group of the caller. Throws `file_unavailable` before
 * `file_not_on_channel`: a channel that is off serves nothing, whatever it lists.
 */
export function pinnedFileTarget(
  snapshot: Snapshot,
  { channelId, keyIndex, file, groups }: PinnedAccount & { readonly groups: readonly string[] },
  criteria: SelectionCriteria,
  deps: SelectionDeps,
): RouteTarget {
  const id = file?.id ?? "";
  const channel = snapshot.channels.get(channelId);
  if (channel?.status !== 1 || !isUsable(channel, keyIndex))
    throw new AppError("file_unavailable", { param: "file_id", values: { id } });
  const { model } = criteria.spec;
  const group = groups.find((name) => channel.groups.includes(name));
  if (group === undefined || !channel.models.has(listedName(model)))
    throw new AppError("file_not_on_channel", { param: "file_id", values: { id, model } });
  const target = pinnedTarget(snapshot, { channelId, group }, criteria, deps);
  if (file && !FILE_ROUTES[file.dialect].test(target.plan.route.dialect))
    throw new AppError("unsupported_by_channel", {
      message: `The channel of the file ${id} serves ${model} in a protocol that cannot name it.`,
    });
  return { ...target, keyIndex };
}

/**
 * A selection with one target: the request named the channel, or the channel stores what the request continues. It is
 * looked up again for a request that has waited; `find` throws if the channel may no longer serve. `begin` counts a
 * running request of the channel and returns the function that ends it.
 */
export function fixedTarget(find: () => RouteTarget, begin?: (channelId: number) => () => void): Selection {
  const found = find();
  let left: RouteTarget | undefined = found;
  let endRun: (() => void) | undefined;
  const leave = () => {
    endRun?.();
    endRun = undefined;
  };
  return {
    next() {
      const once = left;
      left = undefined;
      leave();
      if (once) endRun = begin?.(once.channel.id);
      return once;
    },
    failed: leave,
    full: leave,
    reopen() {
      const target = find();
      leave();
      endRun = begin?.(target.channel.id);
      return target;
    },
    lastResort: () => undefined,
    unused: leave,
    leave,
    candidates() {
      const { channel, group } = found;
      return { entries: [[channel.id, group, channel.priority, channel.weight, ""]], open: 1, total: 1 };
    },
    isExhausted: true,
    restsForMs: undefined,
  };
}
