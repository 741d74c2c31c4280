import { RedisUnavailable, type RedisClient } from "../../redis/client.ts";
import type { WaitBudget } from "../../redis/wait-budget.ts";
import { readLua } from "../../redis/read-lua.ts";
import { script } from "../../redis/script.ts";
import type { TtlStore, Entry } from "./ttl-store.ts";
import { openEntry, sealEntry, type Sealer } from "./sealed-entry.ts";

export interface RedisEntriesDeps {
  readonly redis: RedisClient;
  readonly sealer: Sealer;
  /** Full names of the Redis keys; all have the same hash tag. */
  readonly keys: (name: "entries" | "ends" | "bytes") => string;
  /** How long a read may take. */
  readonly waitBudget: () => WaitBudget;
  /** Called for each call that failed. */
  readonly onFailure: (error: unknown) => void;
}

export interface RedisEntries<E extends Entry> extends TtlStore<E> {
  find(key: string): Promise<E | undefined>;
}

const WRITE_TIMEOUT_MS = 2_000;

const KEEP = script(readLua(import.meta.url, "./lua/keep.lua"));
const FORGET = script(readLua(import.meta.url, "./lua/forget.lua"));

/** Entries of all replicas, sealed. One that cannot be opened is unknown. */
export function createRedisEntries<E extends Entry>(deps: RedisEntriesDeps): RedisEntries<E> {
  const { redis, sealer, waitBudget, onFailure } = deps;
  const keys = [deps.keys("entries"), deps.keys("ends"), deps.keys("bytes")] as const;
  const failed = (error: unknown) => {
    if (error instanceof RedisUnavailable) waitBudget().waitedTooLong();
    onFailure(error);
  };
  const opened = (key: string, sealed: unknown) => {
    try {
      return typeof sealed === "string" ? openEntry<E>(key, sealed, sealer) : undefined;
    } catch (error) {
      failed(error);
      return undefined;
    }
  };
  return {
    async find(key) {
      if (waitBudget().isOver) throw new RedisUnavailable("Redis did not answer a moment ago", false);
      const look = redis.sendOne({ command: "HGET", args: [keys[0], key] }, waitBudget().ms);
      const sealed = await look.catch((error: unknown) => {
        failed(error);
        throw error;
      });
      return opened(key, sealed);
    },
    keep(key, entry, { keepMs, maxBytes }) {
      const sealed = sealEntry(key, entry, sealer);
      if (sealed.length > maxBytes || waitBudget().isOver) return;
      const args = [key, sealed, keepMs, maxBytes];
      redis.sendOne({ script: KEEP, keys, args }, WRITE_TIMEOUT_MS).catch(failed);
    },
    async forget(key) {
      await redis.sendOne({ script: FORGET, keys, args: [key] }, WRITE_TIMEOUT_MS);
    },
    clear() {},
    bytes: 0,
  };
}
