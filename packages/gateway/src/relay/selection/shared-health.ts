import type { Clock } from "../../lib/clock.ts";
import { isObject, parseObject } from "../../lib/text/json.ts";
import type { ChannelRecord } from "../../providers/core/types.ts";
import { createAffinity, type Affinity } from "./affinity.ts";
import { createBreakers, type Breakers } from "./breaker.ts";
import { createCooldowns, type Cooldowns } from "./cooldown.ts";
import { createChannelLatencies, type ChannelLatencies } from "./channel-latencies.ts";
import { createChannelLoads, type ChannelLoads } from "./channel-loads.ts";
import { createKeyOutcomes, parseKeyOutcome, type KeyOutcomes } from "./key-outcomes.ts";
import { createSeenPrefixes, type SeenPrefixes } from "../prompt-cache/seen-prefixes.ts";
import { createStickyModels, type StickyModels } from "./sticky-models.ts";

export interface BreakerOpening {
  readonly keyIndex: number;
  /** 0 = closed. */
  readonly forMs: number;
}

export interface SharedHealthSettings {
  readonly clock: Clock;
  readonly onBreaker: (channelId: number, isOpen: boolean, opening: BreakerOpening) => void;
  /** Called for every request that belongs to a conversation. */
  readonly onAffinity: (rule: string, isHit: boolean) => void;
}

/** Health of upstreams that this process observed and shares with other replicas. */
export interface SharedHealth {
  readonly cooldowns: Cooldowns;
  readonly breakers: Breakers;
  readonly affinity: Affinity;
  readonly sticky: StickyModels;
  readonly prefixes: SeenPrefixes;
  readonly keyOutcomes: KeyOutcomes;
  readonly loads: ChannelLoads;
  /** Measured by this process alone. */
  readonly latencies: ChannelLatencies;
  /** Takes a message of another replica; anything unreadable is skipped. */
  receive(text: string): void;
  /** Forgets what was learned about a channel whose keys or address changed: states refer to the index of a key. */
  follow(channels: ReadonlyMap<number, FollowedChannel>): void;
  /** Publishes changes from now on; without it, each process decides alone. */
  publishBy(publish: (text: string) => void): void;
}

type FollowedChannel = Pick<ChannelRecord, "type" | "keys" | "baseUrl">;

/** Messages carry durations, never times, because the clocks of machines differ. */
export function createSharedHealth({ clock, onBreaker, onAffinity }: SharedHealthSettings): SharedHealth {
  let publish: (text: string) => void = () => {};
  const cooldowns = createCooldowns(clock, (channel, key, model, forMs) =>
    publish(JSON.stringify({ channel, key, model, forMs })),
  );
  const breakers = createBreakers({
    clock,
    onChange(channel, key, forMs) {
      onBreaker(channel, forMs > 0, { keyIndex: key, forMs });
      publish(JSON.stringify({ channel, key, forMs }));
    },
  });
  const affinity = createAffinity({
    clock,
    onAsked: onAffinity,
    onMove: (conversation, { channelId: channel, keyIndex: key }, lifeMs) =>
      publish(JSON.stringify({ conversation, channel, key, lifeMs })),
  });
  const sticky = createStickyModels(clock, (talk, { model, reason }, lifeMs) =>
    publish(JSON.stringify({ talk, model, reason, lifeMs })),
  );
  const prefixes = createSeenPrefixes(clock, (prefix, lifeMs) => publish(JSON.stringify({ prefix, lifeMs })));
  const keyOutcomes = createKeyOutcomes((channel, key, { kind: outcome, message }) =>
    publish(JSON.stringify({ channel, key, outcome, message })),
  );
  const loads = createChannelLoads({
    clock,
    announce: (replica, running) => publish(JSON.stringify({ replica, running })),
  });
  const latencies = createChannelLatencies(clock);
  let followed: ReadonlyMap<number, FollowedChannel> = new Map();
  return {
    cooldowns,
    breakers,
    affinity,
    sticky,
    prefixes,
    keyOutcomes,
    loads,
    latencies,
    follow(channels) {
      for (const [id, before] of followed) {
        if (isSameUpstream(before, channels.get(id))) continue;
        breakers.forget(id);
        cooldowns.forget(id);
        keyOutcomes.forget(id);
        latencies.forget(id);
      }
      followed = channels;
    },
    publishBy: (by) => void (publish = by),
    receive: (text) => receive(text, { cooldowns, breakers, affinity, sticky, prefixes, keyOutcomes, loads }),
  };
}

type Learned = Pick<
  SharedHealth,
  "cooldowns" | "breakers" | "affinity" | "sticky" | "prefixes" | "keyOutcomes" | "loads"
>;

function receive(text: string, learned: Learned): void {
  const parsed = parseObject(text) ?? {};
  const { prefix, lifeMs } = parsed;
  if (typeof prefix === "string" && isCount(lifeMs))
    learned.prefixes.applyRemote(prefix, Math.min(lifeMs, LONGEST_LIFE_MS));
  else receiveHealth(parsed, learned);
}

function receiveHealth(
  parsed: Readonly<Record<string, unknown>>,
  { cooldowns, breakers, affinity, sticky, keyOutcomes, loads }: Learned,
): void {
  const { replica, running, channel, key, model, forMs, conversation, lifeMs, outcome, message } = parsed;
  if (typeof replica === "string" && isObject(running)) return loads.applyRemote(replica, running);
  if (parsed["talk"] !== undefined) return receiveSticky(parsed, sticky);
  if (!isCount(channel) || !isCount(key)) return;
  const keyOutcome = parseKeyOutcome(outcome, message);
  if (keyOutcome) return keyOutcomes.applyRemote(channel, key, keyOutcome);
  if (typeof conversation === "string" && isCount(lifeMs))
    affinity.applyRemote(conversation, { channelId: channel, keyIndex: key }, Math.min(lifeMs, LONGEST_LIFE_MS));
  if (!isCount(forMs)) return;
  if (typeof model === "string") cooldowns.applyRemote(channel, key, model, forMs);
  else breakers.applyRemote(channel, key, forMs);
}

/** The longest lifetime that a rule or a list of fallbacks may set. */
const LONGEST_LIFE_MS = 7 * 86_400_000;

function receiveSticky({ talk, model, reason, lifeMs }: Readonly<Record<string, unknown>>, sticky: StickyModels): void {
  if (typeof talk !== "string" || typeof model !== "string" || typeof reason !== "string" || !isCount(lifeMs)) return;
  sticky.applyRemote(talk, { model, reason }, Math.min(lifeMs, LONGEST_LIFE_MS));
}

function isSameUpstream(one: FollowedChannel, other: FollowedChannel | undefined): boolean {
  if (one === other) return true;
  if (one.type !== other?.type || one.baseUrl !== other.baseUrl || one.keys.length !== other.keys.length) return false;
  return one.keys.every((key, at) => key === other.keys[at]);
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
