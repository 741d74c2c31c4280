import type { ChannelRecord } from "../providers/core/types.ts";
import type { TaskDeps } from "./types.ts";

const REASON_LENGTH = 200;

/** Switches off a channel that is to blame, if the channel and the operator allow that. */
export async function switchOff(channel: ChannelRecord, why: string, deps: TaskDeps): Promise<void> {
  const { options } = deps.snapshots.current();
  if (!channel.autoBan || !options.AutomaticDisableChannelEnabled) return;
  const reason = why.slice(0, REASON_LENGTH);
  try {
    if (await deps.disable(channel.id, reason)) deps.log.warn("channel disabled", { channelId: channel.id, reason });
  } catch (error) {
    deps.log.error("a channel could not be disabled", { channelId: channel.id, error });
  }
}
