import type { Clock } from "../lib/clock.ts";

/** Channels that answered 429 lately, per upstream key and model. Decided by this process alone. */
export interface Cooldowns {
  /** Epoch milliseconds until which the key rests; 0 = it does not. */
  until(channelId: number, keyIndex: number, model: string): number;
  rest(channelId: number, keyIndex: number, model: string, forMs: number): void;
}

const DEFAULT_MS = 5_000;
const LONGEST_MS = 300_000;
const SHORTEST_MS = 1_000;
const MAX_ENTRIES = 10_000;

export function createCooldowns(clock: Clock): Cooldowns {
  const resting = new Map<string, number>();
  return {
    until(channelId, keyIndex, model) {
      if (resting.size === 0) return 0;
      const name = `${channelId} ${keyIndex} ${model}`;
      const until = resting.get(name) ?? 0;
      if (until === 0 || until > clock.now()) return until;
      resting.delete(name);
      return 0;
    },
    rest(channelId, keyIndex, model, forMs) {
      if (resting.size >= MAX_ENTRIES) dropExpired(resting, clock.now());
      resting.set(
        `${channelId} ${keyIndex} ${model}`,
        clock.now() + Math.min(LONGEST_MS, Math.max(SHORTEST_MS, forMs)),
      );
    },
  };
}

/** How long a key rests after a 429 that named no time. */
export const DEFAULT_REST_MS = DEFAULT_MS;

function dropExpired(resting: Map<string, number>, now: number): void {
  for (const [name, until] of resting) if (until <= now) resting.delete(name);
  if (resting.size >= MAX_ENTRIES) resting.clear();
}
