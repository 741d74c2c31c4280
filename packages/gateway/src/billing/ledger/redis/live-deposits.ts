import { AppError } from "../../../lib/app-error.ts";
import type { RedisClient } from "../../../redis/client.ts";
import type { LiveBudgets } from "../../budgets/redis/live-budgets.ts";
import type { Lease } from "../../reservations/live-reservations.ts";
import {
  bookClosedDeposit,
  bookDeposit,
  hasDeposit,
  holdExpired,
  type BookedDeposit,
  type DepositDeps,
} from "../booking/deposits.ts";
import type { Hold, Ledger } from "../ledger.ts";
import type { BalanceSync } from "./balance-sync.ts";
import { renewCall } from "./calls.ts";
import type { OpenHolds } from "./open-holds.ts";
import { releaseLive } from "./release.ts";
import { RENEWED } from "./scripts.ts";
import type { UserBalance } from "../booking/accounts.ts";

export interface LiveDepositDeps extends Omit<DepositDeps, "isLive"> {
  readonly redis: RedisClient;
  readonly open: OpenHolds;
  readonly lease: () => Lease;
  readonly balanceSync: Pick<BalanceSync, "follow">;
  readonly budgets: () => Pick<LiveBudgets, "ended" | "follow">;
  readonly onBalance: ((user: UserBalance, charged: number) => void) | undefined;
  /** Called after a commit. */
  readonly onCommit: () => void;
}

const TIMEOUT_MS = 2_000;

/**
 * Deposits are booked in the database, which Redis follows like any other change. The hold in Redis ends only after
 * the deposit has reached it, so that the amount is never available twice. If this process dies in between, the hold
 * expires, and its deposit keeps it from being charged.
 */
export function createLiveDeposits(deps: LiveDepositDeps): Pick<Ledger, "deposit" | "closeDeposit"> {
  const { open, balanceSync, budgets, redis } = deps;
  const depositDeps = { ...deps, isLive: true };
  const follow = ({ user, charged, budgets: booked }: BookedDeposit) => {
    deps.onCommit();
    budgets().follow(booked);
    if (user) deps.onBalance?.(user, charged);
  };
  return {
    async deposit(hold, terms) {
      const known = open.get(hold.requestId);
      const isDirect = known?.isDirect === true;
      if (!isDirect && !(await isOpen(hold, deps))) {
        if (await hasDeposit(deps.database, hold.requestId)) return;
        throw holdExpired(hold.requestId);
      }
      const held = isDirect ? undefined : (known?.amount ?? hold.amount);
      const booked = await bookDeposit({ hold, terms, held }, depositDeps);
      const onSent = budgets().ended(hold.requestId);
      if (booked) follow(booked);
      onSent?.();
      const isFollowed = await balanceSync.follow([hold.userId]);
      await open.end(hold.requestId, async () => {
        if (!isDirect && isFollowed) await releaseLive(redis, hold);
      });
    },
    async closeDeposit(close) {
      const booked = await bookClosedDeposit(close, depositDeps);
      if (!booked) return false;
      follow(booked);
      await balanceSync.follow([close.userId]);
      return true;
    },
  };
}

/** Extends the lease, so that the hold lasts until the deposit is booked; returns false if it has ended. */
async function isOpen(hold: Hold, { redis, lease }: LiveDepositDeps): Promise<boolean> {
  const call = renewCall(redis.keys, { hold, seen: "", amount: undefined }, lease());
  try {
    return (await redis.sendOne(call, TIMEOUT_MS)) === RENEWED.done;
  } catch (cause) {
    throw new AppError("balances_unavailable", { cause, retryAfterMs: TIMEOUT_MS });
  }
}
