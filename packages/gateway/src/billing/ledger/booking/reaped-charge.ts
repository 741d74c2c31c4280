import type { Charge } from "../charge.ts";
import type { Hold, Settlement } from "../ledger.ts";
import { quota, ZERO } from "../../money/quota.ts";
import type { OpenHold } from "./booking.ts";

/** The content of `holds.seen`: the settlement that is due if the request dies now. */
export type Seen = Omit<Settlement, "hold">;

/** What a renewal stores, so that the reaper can charge it; the hold has columns of its own. */
export function settlementText({ hold: _hold, ...seen }: Settlement): string {
  return JSON.stringify(seen satisfies Seen);
}

/** The charge for an expired reservation. @param now epoch milliseconds */
export function reapedCharge(hold: OpenHold & { readonly seen: string }, now: number): Charge {
  const settlement = buildDueSettlement(hold, now);
  if (settlement) return { settlement, how: "reaped" };
  return { settlement: { hold: toHold(hold, now), quota: ZERO, channelId: 0, at: now }, how: "lapsed" };
}

/** The charge for an expired reservation; undefined when nothing was delivered. */
export function buildDueSettlement(hold: OpenHold & { readonly seen: string }, now: number): Settlement | undefined {
  if (hold.seen === "") return undefined;
  const seen = JSON.parse(hold.seen) as Seen;
  const settlement: Settlement = { ...seen, hold: toHold(hold, now), quota: quota(seen.quota), at: now };
  if (!seen.log) return settlement;
  return { ...settlement, log: { ...seen.log, other: interrupted(seen.log.other) } };
}

/** The hold of a row; `leaseUntil` in epoch milliseconds. */
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
