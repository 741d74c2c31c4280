import type { Clock } from "../../lib/clock.ts";

/** Upstream keys that reached a rate limit, per model. Holds local state only: callers report what happens. */
export interface Cooldowns {
  /** Time of the clock until which the key rests; 0 = it does not. */
  until(channelId: number, keyIndex: number, model: string): number;
  rest(channelId: number, keyIndex: number, model: string, forMs: number): void;
  /** Another replica got the 429. Not announced again. */
  applyRemote(channelId: number, keyIndex: number, model: string, forMs: number): void;
  /** Called when the keys of the channel have changed. */
  forget(channelId: number): void;
  resting(): Resting[];
}

export interface Resting {
  readonly channelId: number;
  readonly keyIndex: number;
  readonly model: string;
  readonly until: number;
}

const DEFAULT_MS = 5_000;
const LONGEST_MS = 300_000;
const SHORTEST_MS = 1_000;
const MAX_ENTRIES = 10_000;

export function createCooldowns(
  clock: Clock,
  onRest?: (channelId: number, keyIndex: number, model: string, forMs: number) => void,
): Cooldowns {
  const resting = new Map<string, Resting>();
  const applyRemote: Cooldowns["applyRemote"] = (channelId, keyIndex, model, forMs) => {
    if (resting.size >= MAX_ENTRIES) dropExpired(resting, clock.now());
    const name = `${channelId} ${keyIndex} ${model}`;
    // A later answer without a time, or another replica's, does not shorten the wait that the upstream named.
    const until = Math.max(resting.get(name)?.until ?? 0, clock.now() + bounded(forMs));
    resting.set(name, { channelId, keyIndex, model, until });
  };
  return {
    until(channelId, keyIndex, model) {
      if (resting.size === 0) return 0;
      const name = `${channelId} ${keyIndex} ${model}`;
      const until = resting.get(name)?.until ?? 0;
      if (until === 0 || until > clock.now()) return until;
      resting.delete(name);
      return 0;
    },
    rest(channelId, keyIndex, model, forMs) {
      applyRemote(channelId, keyIndex, model, forMs);
      onRest?.(channelId, keyIndex, model, bounded(forMs));
    },
    applyRemote,
    forget(channelId) {
      for (const [name, { channelId: other }] of resting) if (other === channelId) resting.delete(name);
    },
    resting: () => [...resting.values()].filter(({ until }) => until > clock.now()),
  };
}

/** How long a key rests after a 429 that named no time. */
export const DEFAULT_REST_MS = DEFAULT_MS;

function bounded(forMs: number): number {
  return Math.min(LONGEST_MS, Math.max(SHORTEST_MS, forMs));
}

function dropExpired(resting: Map<string, Resting>, now: number): void {
  for (const [name, { until }] of resting) if (until <= now) resting.delete(name);
  if (resting.size >= MAX_ENTRIES) resting.clear();
}
