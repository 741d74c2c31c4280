import type { Clock } from "../../lib/clock.ts";
import { Lru } from "../../lib/lru.ts";

/** Beginnings of prompts that came before, by hash: what comes twice is worth a place in the vendor's cache. */
export interface SeenPrefixes {
  /** True if the prefix came within `lifeMs`; notes that it came now. */
  seen(hash: string, lifeMs: number): boolean;
  /** Another replica saw it. Not announced again. */
  applyRemote(hash: string, lifeMs: number): void;
}

const CAPACITY = 50_000;

interface Entry {
  readonly until: number;
  readonly announcedAt: number;
}

export function createSeenPrefixes(clock: Clock, announce: (hash: string, lifeMs: number) => void): SeenPrefixes {
  const entries = new Lru<string, Entry>(CAPACITY);
  return {
    seen(hash, lifeMs) {
      const now = clock.now();
      const before = entries.get(hash);
      const isKnown = before !== undefined && before.until > now;
      const isNews = !isKnown || now - before.announcedAt > lifeMs / 2;
      entries.set(hash, { until: now + lifeMs, announcedAt: isNews ? now : before.announcedAt });
      if (isNews) announce(hash, lifeMs);
      return isKnown;
    },
    applyRemote(hash, lifeMs) {
      const now = clock.now();
      entries.set(hash, { until: now + lifeMs, announcedAt: now });
    },
  };
}
