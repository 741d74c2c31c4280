import type { TtlStore } from "../../ttl-store/ttl-store.ts";
import { createRedisEntries, type RedisEntriesDeps } from "../../ttl-store/redis.ts";
import type { CachedAnswer } from "./cached-answer.ts";

/** Answers cached for equal requests; what cannot be read is a miss. */
export type Answers = TtlStore<CachedAnswer>;

/** Answers of all replicas, sealed. While Redis is away every request is a miss. */
export function createRedisAnswers(deps: Omit<RedisEntriesDeps, "keys" | "waitBudget">): Answers {
  const { keys } = deps.redis;
  const waitBudget = () => deps.redis.waitBudgetOf(keys.answers("entries"));
  const entries = createRedisEntries<CachedAnswer>({ ...deps, keys: keys.answers, waitBudget });
  return { ...entries, find: async (key) => entries.find(key).catch(() => undefined) };
}
