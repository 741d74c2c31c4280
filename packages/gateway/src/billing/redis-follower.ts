import { repeat } from "../lib/repeat.ts";
import type { Clock } from "../lib/clock.ts";
import type { Runnable } from "../lib/runnable.ts";
import type { Logger } from "../observability/log.ts";
import type { RedisClient } from "../redis/client.ts";
import { shardOf } from "../redis/keys.ts";
import type { ScriptCall } from "../redis/script.ts";
import type { RawDatabase } from "../storage/raw.ts";
import {
  forgetApplied,
  markApplied,
  type Movement,
  recentMovements,
  waitingMovements,
  waitingUsers,
} from "./balance-outbox.ts";
import { FOLLOW } from "./redis-scripts.ts";

export interface FollowerDeps {
  readonly redis: RedisClient;
  readonly database: RawDatabase;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Brings what was booked in the database first into the live balances, each movement once, in the order of the ledger. */
export interface Follower extends Runnable {
  /** After a commit. Never rejects: what Redis does not take now is brought later. */
  follow(userIds: Iterable<number>): Promise<void>;
  /** Brings everything of the last minutes again; what the live balances include changes nothing. */
  followRecent(): Promise<void>;
}

const EVERY_MS = 2_000;
const USERS_AT_ONCE = 256;
const TIMEOUT_MS = 2_000;
/** Longer than any loss of Redis that nobody notices. */
const KEPT_MS = 600_000;

export function createFollower(deps: FollowerDeps): Follower {
  const { redis, database, clock, log } = deps;

  const apply = async (movements: readonly Movement[]) => {
    if (movements.length === 0) return;
    const answers = await redis.send(followCalls(redis, movements), TIMEOUT_MS);
    const failed = answers.find((answer) => answer instanceof Error);
    if (failed instanceof Error) throw failed;
    await markApplied(database, movements, clock.now());
  };

  const sweep = async () => {
    if (!redis.isReady) return;
    const users = await waitingUsers(database, USERS_AT_ONCE);
    if (users.length > 0) await apply(await waitingMovements(database, users));
    await forgetApplied(database, clock.now() - KEPT_MS);
  };

  const onError = (error: unknown) => log.warn("live balances do not follow the database yet", { error });
  return {
    ...repeat({ name: "balance follower", everyMs: EVERY_MS, work: sweep, onError }),
    async follow(userIds) {
      const ids = [...new Set(userIds)];
      try {
        if (ids.length > 0) await apply(await waitingMovements(database, ids));
      } catch (error) {
        onError(error);
      }
    },
    followRecent: async () => apply(await recentMovements(database, clock.now() - KEPT_MS)),
  };
}

/** One call per account: all movements of an account in one list. */
export function followCalls({ keys }: Pick<RedisClient, "keys">, movements: readonly Movement[]): ScriptCall[] {
  const accounts = new Map<string, { readonly epoch: string; readonly args: number[] }>();
  const add = (key: string, { userId, ledgerId, quota }: Movement) => {
    const account = accounts.get(key) ?? { epoch: keys.epoch(shardOf(userId)), args: [] };
    account.args.push(ledgerId, quota);
    accounts.set(key, account);
  };
  for (const movement of movements) {
    add(keys.user(movement.userId), movement);
    if (movement.tokenId !== 0) add(keys.token(movement.userId, movement.tokenId), movement);
  }
  return [...accounts].map(([key, { epoch, args }]) => ({ script: FOLLOW, keys: [epoch, key], args }));
}
