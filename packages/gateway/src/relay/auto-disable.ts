import type { Logger } from "../observability/log.ts";
import type { SnapshotStore } from "../snapshot/types.ts";
import type { Attempt } from "./attempt.ts";
import type { Cooldowns } from "./cooldown.ts";
import type { AttemptResult } from "./sink.ts";

/** Draws the consequences of attempts for their channels: rest after 429, switched off after a dead key. */
export interface ChannelGuard {
  observe(attempt: Attempt, result: AttemptResult): void;
}

export interface ChannelGuardDeps {
  readonly snapshots: SnapshotStore;
  readonly cooldowns: Cooldowns;
  readonly log: Logger;
  /** Status 1 to 3 with the reason, abilities off, announced to all replicas; false when it was not enabled any more. */
  readonly disable: (channelId: number, reason: string) => Promise<boolean>;
  /** Tells metrics how an attempt ended. */
  readonly onAttempt: (attempt: Attempt, result: AttemptResult) => void;
}

const REASON_LENGTH = 200;

export function createChannelGuard(deps: ChannelGuardDeps): ChannelGuard {
  const disabling = new Set<number>();

  const disable = async (channelId: number, name: string, reason: string) => {
    if (disabling.has(channelId)) return;
    disabling.add(channelId);
    try {
      if (await deps.disable(channelId, reason)) deps.log.warn("channel disabled", { channelId, name, reason });
    } catch (error) {
      deps.log.error("a channel could not be disabled", { channelId, error });
    } finally {
      disabling.delete(channelId);
    }
  };

  return {
    observe(attempt, result) {
      deps.onAttempt(attempt, result);
      if (result.kind !== "failed") return;
      const { channel, keyIndex } = attempt.choice;
      const { restMs, disable: reason } = result.failure;
      if (restMs !== undefined) deps.cooldowns.rest(channel.id, keyIndex, attempt.request.ask.model, restMs);
      const mayDisable =
        reason !== undefined && channel.autoBan && deps.snapshots.current().options.AutomaticDisableChannelEnabled;
      if (mayDisable) void disable(channel.id, channel.name, reason.slice(0, REASON_LENGTH));
    },
  };
}
