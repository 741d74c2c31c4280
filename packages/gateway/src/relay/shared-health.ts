import type { Clock } from "../lib/clock.ts";
import { parseObject } from "../lib/json.ts";
import { createAffinity, type Affinity } from "./affinity.ts";
import { createBreakers, type Breakers } from "./breaker.ts";
import { createCooldowns, type Cooldowns } from "./cooldown.ts";

export interface SharedHealthSettings {
  readonly clock: Clock;
  readonly onBreaker: (channelId: number, isOpen: boolean) => void;
  /** Told of every question for the place of a conversation. */
  readonly onAffinity: (isHit: boolean) => void;
}

/** What this process knows of the health of upstreams, and what it tells other replicas of it. */
export interface SharedHealth {
  readonly cooldowns: Cooldowns;
  readonly breakers: Breakers;
  readonly affinity: Affinity;
  /** A message of another replica; anything unreadable is passed over. */
  receive(text: string): void;
  /** From now on changes are told; without it each process decides alone. */
  publishBy(publish: (text: string) => void): void;
}

/** Messages carry lengths of time, never times: clocks of machines differ. */
export function createSharedHealth({ clock, onBreaker, onAffinity }: SharedHealthSettings): SharedHealth {
  let publish: (text: string) => void = () => {};
  const cooldowns = createCooldowns(clock, (channel, key, model, forMs) =>
    publish(JSON.stringify({ channel, key, model, forMs })),
  );
  const breakers = createBreakers({
    clock,
    onChange(channel, key, forMs) {
      onBreaker(channel, forMs > 0);
      publish(JSON.stringify({ channel, key, forMs }));
    },
  });
  const affinity = createAffinity({
    clock,
    onFind: onAffinity,
    onMove: (conversation, { channelId: channel, keyIndex: key }) =>
      publish(JSON.stringify({ conversation, channel, key })),
  });
  return {
    cooldowns,
    breakers,
    affinity,
    publishBy: (by) => void (publish = by),
    receive(text) {
      const { channel, key, model, forMs, conversation } = parseObject(text) ?? {};
      if (!isCount(channel) || !isCount(key)) return;
      if (typeof conversation === "string") affinity.told(conversation, { channelId: channel, keyIndex: key });
      if (!isCount(forMs)) return;
      if (typeof model === "string") cooldowns.told(channel, key, model, forMs);
      else breakers.told(channel, key, forMs);
    },
  };
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
