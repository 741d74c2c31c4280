import { createHash } from "node:crypto";
import type { Price } from "../billing/price.ts";
import type { Body } from "../dialects/types.ts";
import type { Clock } from "../lib/clock.ts";
import { isObject } from "../lib/json.ts";
import { Lru } from "../lib/lru.ts";

/** The upstream key that served a conversation last, and keeps its prompt in a cache. */
export interface Preferred {
  readonly channelId: number;
  readonly keyIndex: number;
}

/** Conversations go where they went before, so that the prompt caches of upstreams are hit. */
export interface Affinity {
  /** Undefined when nothing is known of the conversation. */
  find(conversation: string): Preferred | undefined;
  served(conversation: string, by: Preferred): void;
  /** Another replica served it. */
  told(conversation: string, by: Preferred): void;
}

export interface AffinitySettings {
  readonly clock: Clock;
  /** Told of every question; for metrics. */
  readonly onFind: (isHit: boolean) => void;
  /** Told when a conversation is new or moves. */
  readonly onMove?: (conversation: string, by: Preferred) => void;
  readonly capacity?: number;
}

const CAPACITY = 100_000;
const LIFE_MS = 3_600_000;
const LONGEST_KEY = 512;
/** Upstreams cache prompts from about a thousand tokens on. */
const CACHED_FROM_BYTES = 4_096;
const PREFIX_BYTES = 2_048;

interface Entry extends Preferred {
  readonly until: number;
}

export function createAffinity({ clock, onFind, onMove, capacity = CAPACITY }: AffinitySettings): Affinity {
  const entries = new Lru<string, Entry>(capacity);
  const told: Affinity["told"] = (conversation, { channelId, keyIndex }) =>
    entries.set(conversation, { channelId, keyIndex, until: clock.now() + LIFE_MS });
  return {
    find(conversation) {
      const entry = entries.get(conversation);
      const isHit = entry !== undefined && entry.until > clock.now();
      onFind(isHit);
      return isHit ? entry : undefined;
    },
    served(conversation, by) {
      const before = entries.get(conversation);
      told(conversation, by);
      if (before?.channelId !== by.channelId || before.keyIndex !== by.keyIndex) onMove?.(conversation, by);
    },
    told,
  };
}

export interface Spoken {
  readonly userId: number;
  readonly model: string;
  readonly body: Body;
  /** What the client's headers call the conversation. */
  readonly session: string | undefined;
  readonly price: Price | undefined;
}

/**
 * Name of the conversation that a request belongs to, hashed with its user so that users cannot steer each other:
 * what the client calls it, else, where cached input is cheaper, its user key or the beginning of a long prompt.
 */
export function conversationOf({ userId, model, body, session, price }: Spoken): string | undefined {
  const json = body.json();
  const named = session ?? textOf(json["prompt_cache_key"]) ?? claudeSession(json["metadata"]);
  if (named !== undefined) return hash(userId, model, `name ${named}`);
  if (price?.kind !== "tokens" || price.cacheRatio >= 1) return undefined;
  const user = textOf(json["user"]);
  if (user !== undefined) return hash(userId, model, `user ${user}`);
  if (body.bytes.length < CACHED_FROM_BYTES) return undefined;
  return hash(userId, model, body.bytes.subarray(0, PREFIX_BYTES));
}

/** Claude's command line names its session at the end of the user id. */
function claudeSession(metadata: unknown): string | undefined {
  const userId = isObject(metadata) ? textOf(metadata["user_id"]) : undefined;
  return userId === undefined ? undefined : /session_([\w-]{8,64})$/.exec(userId)?.[1];
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" && value.length <= LONGEST_KEY ? value : undefined;
}

function hash(userId: number, model: string, key: string | Buffer): string {
  return createHash("sha1").update(`${userId} ${model}\n`).update(key).digest("base64url");
}
