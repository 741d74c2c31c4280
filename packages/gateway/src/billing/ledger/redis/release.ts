import { waitForTurnEnd } from "../../../lib/async/batcher.ts";
import type { RedisClient } from "../../../redis/client.ts";
import type { Hold } from "../ledger.ts";
import { releaseCall } from "./calls.ts";

const TIMEOUT_MS = 2_000;
const REPEAT_MS = 60_000;

/**
 * Releases a reservation, batched with other calls of this event loop turn. Resolves when the call was sent: the client
 * does not wait for the answer of Redis, but gets its own answer only afterwards. Retries for a short time while Redis
 * is unavailable; after that, the lease expires.
 */
export function releaseLive(redis: RedisClient, hold: Hold): Promise<void> {
  redis.sendOne(releaseCall(redis.keys, hold), TIMEOUT_MS).catch(() => releaseLater(redis, hold));
  return waitForTurnEnd();
}

/** Releases a reservation in the background. */
export function releaseLater(redis: RedisClient, hold: Hold): void {
  void redis
    .ready(REPEAT_MS)
    .then((isReady) => (isReady ? redis.sendOne(releaseCall(redis.keys, hold), TIMEOUT_MS) : undefined))
    .catch(() => undefined);
}
