import type { CachePolicy } from "../../snapshot/cache-policy.ts";
import type { KeptAnswer } from "./kept-answer.ts";

/** Where answers are kept; `answers-memory.ts` for one process, `answers-redis.ts` for all. */
export interface Answers {
  /** Never rejects: what cannot be read is a miss. */
  find(key: string): Promise<KeptAnswer | undefined> | KeptAnswer | undefined;
  /** Nobody waits for it; what cannot be kept is lost. */
  keep(key: string, answer: KeptAnswer, policy: CachePolicy): void;
  /** Forgets what this process holds. */
  clear(): void;
  /** Bytes that this process holds. */
  readonly bytes: number;
}
