import type { RedisClient } from "../../../redis/client.ts";
import type { Hold } from "../ledger.ts";
import { releaseCall } from "./calls.ts";

const TIMEOUT_MS = 2_000;
const REPEAT_MS = 60_000;

/**
 * Gives a reservation back, with what else leaves in this turn; nobody waits for it. While Redis is away it is tried a
 * little longer; after that its lease ends by itself.
 */
export function releaseLive(redis: RedisClient, hold: Hold): void {
  redis.one(releaseCall(redis.keys, hold), TIMEOUT_MS).catch(() => releaseLater(redis, hold));
}

/** Nobody waits for it. */
export function releaseLater(redis: RedisClient, hold: Hold): void {
  void redis
    .ready(REPEAT_MS)
    .then((isReady) => (isReady ? redis.one(releaseCall(redis.keys, hold), TIMEOUT_MS) : undefined))
    .catch(() => undefined);
}
