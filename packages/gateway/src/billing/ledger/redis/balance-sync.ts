import { repeat } from "../../../lib/async/repeat.ts";
import type { Runnable } from "../../../lib/async/runnable.ts";
import type { Logger } from "../../../observability/log.ts";
import type { RedisClient } from "../../../redis/client.ts";
import { selectShard } from "../../../redis/keys.ts";
import type { ScriptCall } from "../../../redis/script.ts";
import type { RawDatabase } from "../../../storage/engines/raw.ts";
import {
  forgetApplied,
  markApplied,
  type Movement,
  newestMovement,
  type MovementRange,
  recentMovements,
  unappliedMovements,
  usersWithUnappliedMovements,
} from "../booking/balance-outbox.ts";
import type { LeaseTime } from "../../reservations/lease-time.ts";
import { FOLLOW } from "./scripts.ts";
import { createTokenLimits } from "./token-limits.ts";

export interface BalanceSyncDeps {
  readonly redis: RedisClient;
  readonly database: RawDatabase;
  /** Provides the time at which movements were applied. */
  readonly leaseTime: LeaseTime;
  readonly log: Logger;
}

/** Applies movements that were booked in the database to the live balances, each once, in ledger order. */
export interface BalanceSync extends Runnable {
  /** Called after a commit. Never rejects; returns false if movements failed, which are applied later. */
  follow(userIds: Iterable<number>): Promise<boolean>;
  /** Applies all movements of the last minutes again; those already included change nothing. */
  followRecent(): Promise<void>;
  /** Called after changes of token limits. Never rejects: a change that fails now is applied later. */
  followTokenLimits(): Promise<void>;
}

const EVERY_MS = 2_000;
const USERS_AT_ONCE = 256;
/** PostgreSQL limits a statement to 65,535 values, and Redis serves other clients between two ranges. */
const MOVEMENTS_AT_ONCE = 1_000;
const TIMEOUT_MS = 2_000;
/** Longer than any undetected data loss of Redis. */
const RETENTION_MS = 600_000;

export function createBalanceSync(deps: BalanceSyncDeps): BalanceSync {
  const { redis, database, leaseTime, log } = deps;
  const tokenLimits = createTokenLimits(deps);
  /** After a stop, another process or the next one sweeps the rest. */
  let isStopped = false;

  /** Stops at the first range that fails: applying a later movement would make the account skip the earlier ones. */
  const applyAll = async (read: (range: MovementRange) => Promise<Movement[]>) => {
    const until = await newestMovement(database);
    let after: number | undefined = 0;
    while (after !== undefined && !isStopped) {
      const movements = await read({ after, until, limit: MOVEMENTS_AT_ONCE });
      await apply(movements, deps);
      after = movements.length < MOVEMENTS_AT_ONCE ? undefined : movements.at(-1)?.ledgerId;
    }
  };

  const followUsers = async (userIds: readonly number[]) => {
    for (let from = 0; from < userIds.length; from += USERS_AT_ONCE) {
      const some = userIds.slice(from, from + USERS_AT_ONCE);
      await applyAll((range) => unappliedMovements(database, some, range));
    }
  };

  /** The last user of the running sweep, so that users that fail do not block those after them. */
  let sweptTo = 0;
  const sweep = async () => {
    if (!redis.isReady) return;
    await forgetApplied(database, leaseTime.at(0 - RETENTION_MS));
    await tokenLimits.follow();
    do {
      const users = await usersWithUnappliedMovements(database, sweptTo, USERS_AT_ONCE);
      sweptTo = users.length < USERS_AT_ONCE ? 0 : (users.at(-1) ?? 0);
      await followUsers(users);
    } while (sweptTo > 0 && !isStopped);
  };

  const onError = (error: unknown) => log.warn("live balances could not be updated from the database yet", { error });
  const sweeps = repeat({ name: "balance follower", everyMs: EVERY_MS, work: sweep, onError });
  return {
    ...sweeps,
    async stop() {
      isStopped = true;
      await sweeps.stop();
    },
    async follow(userIds) {
      try {
        await followUsers([...new Set(userIds)]);
        return !isStopped;
      } catch (error) {
        onError(error);
        return false;
      }
    },
    followTokenLimits: () => tokenLimits.follow().catch(onError),
    followRecent: () => {
      const since = leaseTime.at(0 - RETENTION_MS);
      return applyAll((range) => recentMovements(database, since, range));
    },
  };
}

/** Returns one call per account with all its movements. */
export function followCalls({ keys }: Pick<RedisClient, "keys">, movements: readonly Movement[]): ScriptCall[] {
  const accounts = new Map<string, { readonly epoch: string; readonly args: number[] }>();
  const add = (key: string, { userId, ledgerId, quota }: Movement) => {
    const account = accounts.get(key) ?? { epoch: keys.epoch(selectShard(userId)), args: [] };
    account.args.push(ledgerId, quota);
    accounts.set(key, account);
  };
  for (const movement of movements) {
    add(keys.user(movement.userId), movement);
    if (movement.tokenId !== 0) add(keys.token(movement.userId, movement.tokenId), movement);
  }
  return [...accounts].map(([key, { epoch, args }]) => ({ script: FOLLOW, keys: [epoch, key], args }));
}

async function apply(movements: readonly Movement[], { redis, database, leaseTime }: BalanceSyncDeps): Promise<void> {
  if (movements.length === 0) return;
  const answers = await redis.send(followCalls(redis, movements), TIMEOUT_MS);
  const failed = answers.find((answer) => answer instanceof Error);
  if (failed instanceof Error) throw failed;
  await markApplied(database, movements, leaseTime);
}
