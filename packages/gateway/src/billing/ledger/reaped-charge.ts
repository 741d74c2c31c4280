import type { Charge } from "./charge.ts";
import { ZERO } from "../money/quota.ts";
import type { OpenHold } from "./sql/booking.ts";
import { dueOf, holdOf } from "./sql/reaper.ts";

/** The charge for an expired reservation. @param now epoch milliseconds */
export function reapedCharge(hold: OpenHold & { readonly seen: string }, now: number): Charge {
  const settlement = dueOf(hold, now);
  if (settlement) return { settlement, how: "reaped" };
  return { settlement: { hold: holdOf(hold, now), quota: ZERO, channelId: 0, at: now }, how: "lapsed" };
}
