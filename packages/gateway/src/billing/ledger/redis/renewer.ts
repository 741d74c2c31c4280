import type { Logger } from "../../../observability/log.ts";
import type { RedisClient } from "../../../redis/client.ts";
import type { RawDatabase } from "../../../storage/engines/raw.ts";
import type { Hold, Settlement } from "../ledger.ts";
import type { OpenHolds } from "./open-holds.ts";
import type { Quota } from "../../money/quota.ts";
import type { Lease } from "../../reservations/live-reservations.ts";
import { adoptCall, type Renewal, renewCall } from "./calls.ts";
import { RENEWED } from "./scripts.ts";
import { askAgain } from "../../reservations/second-look.ts";
import type { AccountLoader } from "./account-loader.ts";
import { bookedRequests } from "../booking/booked-requests.ts";
import { settlementText } from "../booking/reaped-charge.ts";

export interface RenewalDeps {
  readonly redis: RedisClient;
  readonly database: RawDatabase;
  readonly accountLoader: AccountLoader;
  readonly open: Pick<OpenHolds, "get">;
  readonly lease: () => Lease;
}

export interface RenewerDeps extends RenewalDeps {
  readonly open: OpenHolds;
  readonly log: Logger;
  /** Sends the waiting charges of this process. */
  readonly sendNow: () => void;
}

const TIMEOUT_MS = 2_000;
const LOAD_MS = 1_000;

/**
 * Extends the lease of a reservation in Redis and reports the usage so far. A running answer continues while Redis is
 * unavailable; the settlement corrects a reservation that expired.
 */
export async function renewLive(
  hold: Hold,
  seen: Settlement,
  amount: Quota | undefined,
  deps: RenewerDeps,
): Promise<boolean> {
  const renewal = { hold, seen: settlementText(seen), amount };
  const known = deps.open.get(hold.requestId);
  deps.open.see(hold.requestId, renewal.seen);
  try {
    const answer = await askAgain(
      () => renewKnown(renewal, deps),
      (one) => one !== RENEWED.crowded,
      deps.sendNow,
    );
    if (answer === RENEWED.done && known && amount !== undefined && amount > known.amount) known.amount = amount;
    return answer === RENEWED.done || answer === RENEWED.unread;
  } catch (error) {
    deps.log.warn("a reservation could not be renewed; its request continues", { request_id: hold.requestId, error });
    return true;
  }
}

/** Renews a reservation after restoring it or its balances, because Redis may have lost them. */
export async function renewKnown(renewal: Renewal, deps: RenewalDeps): Promise<unknown> {
  const { redis, database, open, lease } = deps;
  const { hold } = renewal;
  const first = await renew(renewal, deps);
  if (first === RENEWED.unread) {
    await loadBoth(hold, deps);
    return renew(renewal, deps);
  }
  if (first !== RENEWED.unknown) return first;
  if ((await bookedRequests(database, [hold.requestId])).has(hold.requestId)) return RENEWED.closed;
  const amount = open.get(hold.requestId)?.amount ?? hold.amount;
  await redis.sendOne(adoptCall(redis.keys, hold, amount, lease()), TIMEOUT_MS);
  return renew(renewal, deps);
}

function renew(renewal: Renewal, { redis, lease }: RenewalDeps): Promise<unknown> {
  return redis.sendOne(renewCall(redis.keys, renewal, lease()), TIMEOUT_MS);
}

async function loadBoth({ userId, tokenId }: Hold, { accountLoader }: RenewalDeps): Promise<void> {
  const deadline = performance.now() + LOAD_MS;
  await accountLoader.load({ userId, tokenId: 0 }, deadline);
  if (tokenId !== 0) await accountLoader.load({ userId, tokenId }, deadline);
}
