import type { Usage } from "../../../dialects/core/types.ts";
import type { Entry, TtlStore } from "../../ttl-store/ttl-store.ts";
import { createRedisEntries, type RedisEntriesDeps } from "../../ttl-store/redis.ts";

/** A whole, successful answer; its body is what the client got, for a stream its event blocks. */
export interface CachedAnswer extends Entry {
  /** "" for streams, whose head follows from the request. */
  readonly contentType: string;
  /** The charged usage. */
  readonly usage: Usage;
  /** The group that served. */
  readonly group: string;
}

/** Answers cached for equal requests; an unreadable entry is a miss. */
export type Answers = TtlStore<CachedAnswer>;

/** Answers of all replicas, sealed. While Redis is unavailable, every request is a miss. */
export function createRedisAnswers(deps: Omit<RedisEntriesDeps, "keys" | "waitBudget">): Answers {
  const { keys } = deps.redis;
  const waitBudget = () => deps.redis.getWaitBudget(keys.answers("entries"));
  const entries = createRedisEntries<CachedAnswer>({ ...deps, keys: keys.answers, waitBudget });
  return { ...entries, find: async (key) => entries.find(key).catch(() => undefined) };
}
