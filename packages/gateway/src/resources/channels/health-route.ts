import { channelHealth, type ChannelHealth } from "@fairway/wire";
import { chatOnlyChannels } from "../../providers/core/chat-only.ts";
import { implement, type Route } from "../../http/endpoint.ts";
import type { Breakers } from "../../relay/selection/breaker.ts";
import type { UsageDoubts } from "../../relay/selection/usage-doubts.ts";
import type { Cooldowns } from "../../relay/selection/cooldown.ts";

export interface ChannelHealthDeps {
  readonly breakers: Pick<Breakers, "states">;
  readonly cooldowns: Pick<Cooldowns, "resting">;
  readonly usageDoubts: Pick<UsageDoubts, "recent">;
  /** The clock that both use. */
  readonly now: () => number;
}

export function channelHealthRoute({ breakers, cooldowns, usageDoubts, now }: ChannelHealthDeps): Route {
  return implement(channelHealth, () => {
    const waitMs = (until: number) => Math.max(0, until - now());
    const broken = breakers
      .states()
      .map(({ channelId, keyIndex, state, until, consecutiveFailures }): ChannelHealth => ({
        channel_id: channelId,
        key_index: keyIndex,
        state,
        model: "",
        wait_ms: waitMs(until),
        consecutive_failures: consecutiveFailures,
      }));
    const resting = cooldowns.resting().map(({ channelId, keyIndex, model, until }): ChannelHealth => ({
      channel_id: channelId,
      key_index: keyIndex,
      state: "resting",
      model,
      wait_ms: waitMs(until),
      consecutive_failures: 0,
    }));
    const doubted = usageDoubts.recent().map(({ channelId, keyIndex, model, answers }): ChannelHealth => ({
      channel_id: channelId,
      key_index: keyIndex,
      state: "doubtful-usage",
      model,
      wait_ms: 0,
      consecutive_failures: answers,
    }));
    const chatOnly = chatOnlyChannels().map(({ channelId, waitMs: wait_ms }): ChannelHealth => ({
      channel_id: channelId,
      key_index: 0,
      state: "chat-only",
      model: "",
      wait_ms,
      consecutive_failures: 0,
    }));
    return [...broken, ...resting, ...doubted, ...chatOnly].toSorted(
      (a, b) => a.channel_id - b.channel_id || a.key_index - b.key_index,
    );
  });
}
