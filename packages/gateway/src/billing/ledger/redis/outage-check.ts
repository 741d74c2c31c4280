import type { RedisLedgerSettings } from "./ledger-settings.ts";

const PING_MS = 2_000;

/** Rejects when Redis does not answer; the error states the effect on new requests. */
export async function checkRedis({ redis, onOutage }: Pick<RedisLedgerSettings, "redis" | "onOutage">): Promise<void> {
  try {
    if (redis.cluster && !redis.isReady) throw new Error("the Redis Cluster is not complete");
    await Promise.all(redis.servers().map(({ sendOne }) => sendOne({ command: "ping", args: [] }, PING_MS)));
  } catch (cause) {
    const reason = redis.lastError?.message ?? (cause instanceof Error ? cause.message : String(cause));
    const meaning = onOutage === "deny" ? "are refused" : "are reserved in the database";
    throw new Error(`${reason}; new requests${redis.cluster ? " of its users" : ""} ${meaning}`, { cause });
  }
}
