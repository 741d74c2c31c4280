import { readLua } from "../../../redis/read-lua.ts";
import { script } from "../../../redis/script.ts";

/**
 * The scripts that change live balances. Each is atomic and touches one shard; the head of its file describes its keys,
 * arguments and answers.
 *
 * An account is a hash with these fields: `b` balance (for a token its usage, negative); `h` held; `g` lifetime limit
 * of a token, or `u` for unlimited; `r` tokens revision of `g`, so that a replica with an older copy of the token does
 * not restore an old limit; `e` epoch in which it was loaded from the database; `i` id of that load; `v` the last
 * ledger row that it includes; `n` number of changes while it was not loaded; `m` the time since which it is unchanged,
 * used by `FORGET` only.
 *
 * A reservation is a field of the shard's hash: `amount:user:token` while it is open, with a trailing `+` once usage
 * was reported; `s` when it was settled, `r` when it was reaped. The field is removed when the database has the charge.
 */

/** Reserves for calls of one account, in order; returns one of `HELD` for each, with its values. */
export const HOLD = script(readLua(import.meta.url, "./lua/hold.lua"));

/** Restores a reservation that Redis has lost, or extends the lease of an existing one; returns 1 when it was lost. */
export const ADOPT = script(readLua(import.meta.url, "./lua/adopt.lua"));

/** Extends a lease and may raise the reservation; returns one of `RENEWED`. */
export const RENEW = script(readLua(import.meta.url, "./lua/renew.lua"));

/** Ends a reservation without a charge. */
export const RELEASE = script(readLua(import.meta.url, "./lua/release.lua"));

/** First number of a result of `HOLD`. */
export const HELD = { granted: 0, userShort: 1, tokenShort: 2, userUnread: 3, tokenUnread: 4, closed: 5 } as const;

export const RENEWED = { unknown: 0, closed: 1, refused: 2, done: 3, unread: 4, crowded: 5 } as const;

/** Return codes of `SETTLE` in place of the charge's stream id. */
export const SETTLED = { unknown: -1, before: -2, reaped: -3 } as const;

/** Charges open reservations; returns the stream id of each charge, or one of `SETTLED`. */
export const SETTLE = script(readLua(import.meta.url, "./lua/settle.lua"));

/** Charges an expired reservation; returns 0 when it has not expired. */
export const REAP = script(readLua(import.meta.url, "./lua/reap.lua"));

/** Returns id, record and reported usage of each expired reservation. */
export const DUE = script(readLua(import.meta.url, "./lua/due.lua"));

/** Removes charges that the database has, or moves them to those that are retained. */
export const BOOKED = script(readLua(import.meta.url, "./lua/booked.lua"));

/** Undoes a charge that the database already had. */
export const REFUND = script(readLua(import.meta.url, "./lua/refund.lua"));

/** Applies movements from the database. */
export const FOLLOW = script(readLua(import.meta.url, "./lua/follow.lua"));

/** Applies a changed limit of a token. */
export const LIMIT = script(readLua(import.meta.url, "./lua/limit.lua"));

/** Checks whether an account may be loaded from the database. */
export const BEGIN_LOAD = script(readLua(import.meta.url, "./lua/begin-load.lua"));

/** Stores an account; returns 0 if anything changed since `BEGIN_LOAD`. */
export const LOAD_ACCOUNT = script(readLua(import.meta.url, "./lua/load-account.lua"));

/** Opens a shard in a new epoch. */
export const OPEN = script(readLua(import.meta.url, "./lua/open-shard.lua"));

/** Closes a shard until it is opened in the new epoch. */
export const CLOSE_SHARD = script(readLua(import.meta.url, "./lua/close-shard.lua"));

/** Announces a begun epoch to all processes. */
export const BEGIN_EPOCH = script(readLua(import.meta.url, "./lua/begin-epoch.lua"));

/** Records a heartbeat; returns the replicas that had one within a given time. */
export const ALIVE = script(readLua(import.meta.url, "./lua/alive.lua"));

/** Removes an account that has been unchanged for a while. */
export const FORGET = script(readLua(import.meta.url, "./lua/forget.lua"));
