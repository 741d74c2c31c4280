import type { Logger } from "../../../observability/log.ts";
import type { RedisClient } from "../../../redis/client.ts";
import { SHARDS } from "../../../redis/keys.ts";
import { chargeText } from "../charge.ts";
import { reapedCharge, toHold } from "../booking/reaped-charge.ts";
import type { Lease } from "../../reservations/live-reservations.ts";
import { isShareId, reapCall, releaseCall } from "./calls.ts";
import { DUE } from "./scripts.ts";
import type { OpenHold } from "../booking/booking.ts";

export interface LiveReaperDeps {
  readonly redis: RedisClient;
  readonly log: Logger;
  readonly lease: () => Lease;
  /** Clock for the time of the charges. */
  readonly now: () => number;
}

const AT_ONCE = 100;
const TIMEOUT_MS = 5_000;

/** Charges expired reservations in Redis at their last reported usage; returns how many. Safe on any replica. */
export async function reapLive(deps: LiveReaperDeps): Promise<number> {
  const { redis, lease } = deps;
  const { keys } = redis;
  let reaped = 0;
  let shards = Array.from({ length: SHARDS }, (_, shard) => shard);
  while (shards.length > 0) {
    const calls = shards.map((shard) => ({
      script: DUE,
      keys: [keys.leases(shard), keys.holds(shard), keys.seen(shard)],
      args: [lease().now, AT_ONCE],
    }));
    const answers = await redis.send(calls, TIMEOUT_MS);
    const due = answers.map((answer) => dueHolds(answer));
    const progress = await reapAll(due.flat(), deps);
    reaped += progress;
    shards = progress === 0 ? [] : shards.filter((_, at) => due[at]?.length === AT_ONCE);
  }
  return reaped;
}

type DueHold = OpenHold & { readonly seen: string };

/** Triples of id, `amount:user:token` and last reported usage. */
function dueHolds(answer: unknown): DueHold[] {
  if (answer instanceof Error) throw answer;
  const texts = answer as readonly string[];
  return Array.from({ length: texts.length / 3 }, (_, at) => {
    const [request_id = "", record = "", seen = ""] = texts.slice(3 * at, 3 * at + 3);
    const [amount = 0, user_id = 0, token_id = 0] = record.replace("+", "").split(":").map(Number);
    return { request_id, user_id, token_id, amount, seen };
  });
}

/** Shares have their charge in the database, so they end without one. */
async function endShares(shares: readonly DueHold[], { redis, now }: LiveReaperDeps): Promise<void> {
  const calls = shares.map((share) => releaseCall(redis.keys, toHold(share, now())));
  if (calls.length > 0) await redis.send(calls, TIMEOUT_MS);
}

async function reapAll(all: readonly DueHold[], deps: LiveReaperDeps): Promise<number> {
  const { redis, log, lease, now } = deps;
  const { shares = [], requests: due = [] } = Object.groupBy(all, (hold) =>
    isShareId(hold.request_id) ? "shares" : "requests",
  );
  await endShares(shares, deps);
  if (due.length === 0) return 0;
  const charges = due.map((hold) => reapedCharge(hold, now()));
  const calls = charges.map((charge) => reapCall(redis.keys, charge.settlement, chargeText(charge), lease().now));
  const answers = await redis.send(calls, TIMEOUT_MS);
  const reaped = due.filter((_, at) => typeof answers[at] === "string");
  for (const { request_id } of reaped) {
    log.warn("an expired reservation was settled at its last reported usage", { request_id });
  }
  return reaped.length;
}
