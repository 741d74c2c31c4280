import type { Clock } from "../../lib/clock.ts";
import { Lru } from "../../lib/lru.ts";

/** The model that serves a conversation in place of the requested one. */
export interface StickyModel {
  readonly model: string;
  /** Why the conversation left its first model. */
  readonly reason: string;
}

/** Sends conversations to the model that they fell back to, so that its prompt cache is hit and no failure is repeated. */
export interface StickyModels {
  /** Undefined if nothing is known, or the time is over. */
  find(conversation: string): StickyModel | undefined;
  /** Remembers the model for `lifeMs` from now. */
  served(conversation: string, by: StickyModel, lifeMs: number): void;
  /** Another replica served it. Not announced again. */
  applyRemote(conversation: string, by: StickyModel, lifeMs: number): void;
}

const CAPACITY = 20_000;

interface Entry extends StickyModel {
  readonly until: number;
}

export function createStickyModels(
  clock: Clock,
  announce: (conversation: string, by: StickyModel, lifeMs: number) => void,
): StickyModels {
  const entries = new Lru<string, Entry>(CAPACITY);
  const applyRemote = (conversation: string, { model, reason }: StickyModel, lifeMs: number) =>
    entries.set(conversation, { model, reason, until: clock.now() + lifeMs });
  return {
    find(conversation) {
      const entry = entries.get(conversation);
      return entry !== undefined && entry.until > clock.now() ? entry : undefined;
    },
    served(conversation, by, lifeMs) {
      applyRemote(conversation, by, lifeMs);
      announce(conversation, by, lifeMs);
    },
    applyRemote,
  };
}
