import type { Clock } from "../../lib/clock.ts";
import { Lru } from "../../lib/lru.ts";

/** The upstream key that served a conversation last, and has its prompt in a cache. */
export interface Preferred {
  readonly channelId: number;
  readonly keyIndex: number;
}

/** Sends conversations to the channel that served them before, so that the prompt caches of upstreams are hit. */
export interface Affinity {
  /** Undefined if nothing is known about the conversation. */
  find(conversation: string): Preferred | undefined;
  /** Remembers the channel for `lifeMs` from now. */
  served(conversation: string, by: Preferred, lifeMs: number): void;
  /** Another replica served it. Not announced again. */
  applyRemote(conversation: string, by: Preferred, lifeMs: number): void;
  /** Records for metrics whether a request of a conversation went to its remembered channel. */
  asked(rule: string, isHit: boolean): void;
}

export interface AffinitySettings {
  readonly clock: Clock;
  readonly onAsked: (rule: string, isHit: boolean) => void;
  /** Called when a conversation is new, moves, or has lasted for half of its lifetime. */
  readonly onMove?: (conversation: string, by: Preferred, lifeMs: number) => void;
  readonly capacity?: number;
}

const CAPACITY = 100_000;

interface Entry extends Preferred {
  readonly until: number;
  /** When the entry was announced to other replicas. */
  readonly announcedAt: number;
}

export function createAffinity({ clock, onAsked, onMove, capacity = CAPACITY }: AffinitySettings): Affinity {
  const entries = new Lru<string, Entry>(capacity);
  return {
    find(conversation) {
      const entry = entries.get(conversation);
      return entry !== undefined && entry.until > clock.now() ? entry : undefined;
    },
    served(conversation, { channelId, keyIndex }, lifeMs) {
      const now = clock.now();
      const before = entries.get(conversation);
      const isSame = before?.channelId === channelId && before.keyIndex === keyIndex;
      const isOld = before === undefined || now - before.announcedAt > lifeMs / 2;
      const isNews = !isSame || isOld;
      const announcedAt = isNews ? now : before.announcedAt;
      entries.set(conversation, { channelId, keyIndex, until: now + lifeMs, announcedAt });
      if (isNews) onMove?.(conversation, { channelId, keyIndex }, lifeMs);
    },
    applyRemote(conversation, { channelId, keyIndex }, lifeMs) {
      const now = clock.now();
      entries.set(conversation, { channelId, keyIndex, until: now + lifeMs, announcedAt: now });
    },
    asked: onAsked,
  };
}
