import { selectShard, type Keys } from "../../../redis/keys.ts";
import type { Script, ScriptCall } from "../../../redis/script.ts";
import type { Hold, HoldRequest, Settlement } from "../ledger.ts";
import type { Quota } from "../../money/quota.ts";
import type { Lease } from "../../reservations/live-reservations.ts";
import { ADOPT, HOLD, REAP, RELEASE, RENEW, SETTLE } from "./scripts.ts";

/** Builds the calls of the ledger scripts, with keys and arguments in the documented order. */

type Owner = Pick<Hold, "userId" | "tokenId">;

/**
 * Returns the key of the token. The playground has none: its scripts get the user's key twice and ignore the second
 * one.
 */
function tokenKey(keys: Keys, { userId, tokenId }: Owner): string {
  return tokenId === 0 ? keys.user(userId) : keys.token(userId, tokenId);
}

const hasToken = ({ tokenId }: Owner) => (tokenId === 0 ? "0" : "1");
export const recordTail = ({ userId, tokenId }: Owner) => `:${userId}:${tokenId}`;
export const buildAccountKey = ({ userId, tokenId }: Owner) => `${userId}:${tokenId}`;

const SHARE = "share/";

/** Returns the id in Redis of a reservation that this request has in the database. */
export const buildShareId = (requestId: string) => `${SHARE}${requestId}`;
export const isShareId = (id: string) => id.startsWith(SHARE);

/** @param isRepeated an earlier attempt may have run without an answer */
export function holdCall(keys: Keys, request: HoldRequest, { now, leaseMs }: Lease, isRepeated: boolean): ScriptCall {
  const { requestId, userId, amount, wished = "", isCharged, grant, grantRevision = 0 } = request;
  const shard = selectShard(userId);
  const granted = grant === undefined ? "" : grant === "unlimited" ? "u" : grant;
  return {
    script: HOLD,
    keys: [keys.epoch(shard), keys.user(userId), tokenKey(keys, request), keys.holds(shard), keys.leases(shard)],
    args: [now, leaseMs, hasToken(request), granted, grantRevision],
    item: {
      group: `hold ${buildAccountKey(request)} ${granted} ${grantRevision} ${now}`,
      args: [requestId, amount, isCharged ? "1" : "0", wished, recordTail(request), isRepeated ? "1" : "0"],
    },
  };
}

/** Restores a reservation that Redis has lost. */
export function adoptCall(keys: Keys, hold: Hold, amount: Quota, { now, leaseMs }: Lease): ScriptCall {
  const shard = selectShard(hold.userId);
  return {
    script: ADOPT,
    keys: [keys.holds(shard), keys.leases(shard), keys.user(hold.userId), tokenKey(keys, hold)],
    args: [hold.requestId, amount, `${amount}${recordTail(hold)}`, now, leaseMs, hasToken(hold)],
  };
}

export interface Renewal {
  readonly hold: Hold;
  /** The settlement due if the request dies now. */
  readonly seen: string;
  readonly amount: Quota | undefined;
}

/** Extends a lease, stores what is due if the process dies, and may raise the amount. */
export function renewCall(keys: Keys, { hold, seen, amount }: Renewal, { now, leaseMs }: Lease): ScriptCall {
  const shard = selectShard(hold.userId);
  return {
    script: RENEW,
    keys: [...holdKeys(keys, hold), keys.epoch(shard)],
    args: [hold.requestId, seen, now, leaseMs, amount ?? "", hasToken(hold), `${recordTail(hold)}+`],
  };
}

/** Ends a reservation without a charge. */
export function releaseCall(keys: Keys, hold: Hold): ScriptCall {
  return { script: RELEASE, keys: holdKeys(keys, hold), args: [hold.requestId, hasToken(hold)] };
}

/** Charges, ends the reservation and appends `charge` to the stream of the shard. */
export function settleCall(keys: Keys, settlement: Settlement, charge: string): ScriptCall {
  return closingCall(keys, { script: SETTLE, name: "settle", settlement, charge, now: 0 });
}

/** Like `settleCall`, but only if the lease has ended at `now` (milliseconds of the clock of Redis). */
export function reapCall(keys: Keys, settlement: Settlement, charge: string, now: number): ScriptCall {
  return closingCall(keys, { script: REAP, name: "reap", settlement, charge, now });
}

interface Closing {
  readonly script: Script;
  readonly name: string;
  readonly settlement: Settlement;
  readonly charge: string;
  readonly now: number;
}

function closingCall(keys: Keys, { script, name, settlement: { hold, quota }, charge, now }: Closing): ScriptCall {
  const account = buildAccountKey(hold);
  return {
    script,
    keys: closingKeys(keys, hold),
    args: [account, hasToken(hold), now],
    item: { group: `${name} ${account} ${now}`, args: [hold.requestId, quota, charge] },
  };
}

function holdKeys(keys: Keys, hold: Hold): string[] {
  const shard = selectShard(hold.userId);
  return [keys.holds(shard), keys.leases(shard), keys.seen(shard), keys.user(hold.userId), tokenKey(keys, hold)];
}

function closingKeys(keys: Keys, hold: Hold): string[] {
  const shard = selectShard(hold.userId);
  return [...holdKeys(keys, hold), keys.charges(shard), keys.epoch(shard)];
}
