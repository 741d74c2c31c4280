import type { Charge } from "../charge.ts";
import type { Hold, Settlement } from "../ledger.ts";
import { quota, ZERO } from "../../money/quota.ts";
import type { OpenHold } from "./booking.ts";

/** The content of `holds.seen`: the settlement that is due if the request dies now. */
export type Seen = Omit<Settlement, "hold">;

/** Returns the text that a renewal stores for the reaper, without the hold, which has its own columns. */
export function settlementText({ hold: _hold, ...seen }: Settlement): string {
  return JSON.stringify(seen satisfies Seen);
}

/** Returns the charge for an expired reservation. @param now epoch milliseconds */
export function reapedCharge(hold: OpenHold & { readonly seen: string }, now: number): Charge {
  const settlement = buildDueSettlement(hold, now);
  if (settlement) return { settlement, how: "reaped" };
  return { settlement: { hold: toHold(hold, now), quota: ZERO, channelId: 0, at: now }, how: "lapsed" };
}

/** Returns the settlement due for an expired reservation; undefined if nothing was delivered. */
export function buildDueSettlement(hold: OpenHold & { readonly seen: string }, now: number): Settlement | undefined {
  if (hold.seen === "") return undefined;
  const seen = JSON.parse(hold.seen) as Seen;
  const settlement: Settlement = { ...seen, hold: toHold(hold, now), quota: quota(seen.quota), at: now };
  if (!seen.log) return settlement;
  return { ...settlement, log: { ...seen.log, other: interrupted(seen.log.other) } };
}

/** Returns the hold of a row; `leaseUntil` is in epoch milliseconds. */
export function toHold(row: OpenHold, leaseUntil: number): Hold {
  return {
    requestId: row.request_id,
    userId: row.user_id,
    tokenId: row.token_id,
    amount: quota(row.amount),
    leaseUntil,
  };
}

function interrupted(other: string): string {
  const fields = other === "" ? {} : (JSON.parse(other) as Record<string, unknown>);
  return JSON.stringify({ ...fields, end_reason: "interrupted" });
}
