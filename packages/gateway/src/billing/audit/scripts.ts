import { readLua } from "../../redis/read-lua.ts";
import { script } from "../../redis/script.ts";

/** A snapshot of accounts of one shard. */
export const READ_ACCOUNTS = script(readLua(import.meta.url, "./lua/read-accounts.lua"));

/** Marks an unchanged account for reloading. */
export const INVALIDATE = script(readLua(import.meta.url, "./lua/invalidate.lua"));

/** Sets the held amount of an account to the sum of its open reservations. */
export const RECOUNT = script(readLua(import.meta.url, "./lua/recount.lua"));
