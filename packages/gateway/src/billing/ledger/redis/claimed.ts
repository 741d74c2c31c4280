import { AppError } from "../../../lib/app-error.ts";
import type { RedisClient } from "../../../redis/client.ts";

const TIMEOUT_MS = 2_000;
const RETRY_AFTER_MS = 1_000;

/** Returns what is used and held of a token in the live balances; 0 if no call has loaded it. */
export async function readClaimed(redis: RedisClient, userId: number, tokenId: number): Promise<number> {
  const call = { command: "hmget", args: [redis.keys.token(userId, tokenId), "b", "h"] };
  const [answer] = await redis.send([call], TIMEOUT_MS).catch((cause: unknown) => [cause]);
  if (!Array.isArray(answer)) {
    throw new AppError("balances_unavailable", { cause: answer, retryAfterMs: RETRY_AFTER_MS });
  }
  const [balance, held] = answer.map((value: unknown) => Number(value ?? 0));
  // The balance of a token is what it has used, with a minus.
  return (held ?? 0) - (balance ?? 0);
}
