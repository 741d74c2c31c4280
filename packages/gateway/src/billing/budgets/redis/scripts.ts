import { readLua } from "../../../redis/read-lua.ts";
import { script } from "../../../redis/script.ts";

/**
 * The scripts of live budgets. Their keys are `state` and `holds` (hashes), `leases` (a sorted set) and `epoch`.
 *
 * `state` has up to three fields for each budget: the id, with `epoch revision window used held` as read from the database
 * in that epoch; the id with suffix `h`, the sum of its open requests; and the id with suffix `w`, the begin of the last
 * window that a reservation has opened here (only periods of `hours`). `holds` has a field for each request that is
 * open, or charged but not booked yet: `amount:user:id,id`, the amount reserved in each of these budgets.
 */

/** Reserves in one set of budgets, in order; returns one of `PLACED` for each, with its values. */
export const PLACE = script(readLua(import.meta.url, "./lua/place.lua"));

/** Puts an amount in each of a set of budgets without checking their limits. */
export const PUT = script(readLua(import.meta.url, "./lua/put.lua"));

/** Writes states from the database and removes requests that they include. */
export const FOLLOW = script(readLua(import.meta.url, "./lua/follow.lua"));

/** Returns id and record of requests that have been open for long. */
export const LONG_OPEN = script(readLua(import.meta.url, "./lua/long-open.lua"));

/** Returns pairs of each budget and its field of one kind: the sum of open requests, or the begin of its window. */
export const READ_STATE = script(readLua(import.meta.url, "./lua/read-state.lua"));

/** First number of a result of `PLACE`. */
export const PLACED = { granted: 0, short: 1, ended: 2, unread: 3, closed: 4 } as const;
