import type { TtlStore } from "../../ttl-store/ttl-store.ts";
import { createRedisEntries, type RedisEntriesDeps } from "../../ttl-store/redis.ts";
import type { KeptAnswer } from "./kept-answer.ts";

/** Answers that are kept for equal requests; what cannot be read is a miss. */
export type Answers = TtlStore<KeptAnswer>;

/** Answers of all replicas, sealed. While Redis is away every request is a miss. */
export function createRedisAnswers(deps: Omit<RedisEntriesDeps, "keys" | "waitBudget">): Answers {
  const { keys, waitBudget } = deps.redis;
  const entries = createRedisEntries<KeptAnswer>({ ...deps, keys: keys.answers, waitBudget: waitBudget });
  return { ...entries, find: async (key) => entries.find(key).catch(() => undefined) };
}
