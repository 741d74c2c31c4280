import { RedisUnavailable, type RedisClient } from "../../../redis/client.ts";
import type { WaitBudget } from "../../../redis/wait-budget.ts";
import type { ScriptCall } from "../../../redis/script.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Logger } from "../../../observability/log.ts";
import type { RawDatabase } from "../../../storage/engines/raw.ts";
import type { Lease, OnOutage, RecoveryGate } from "../../reservations/live-reservations.ts";
import type { BookedBudgets } from "../sql/sheet.ts";
import type { SqlBudgets } from "../sql/reservations.ts";
import { isOverBudget, type Budget, type BudgetReservations, type Placed, type Placing } from "../budget.ts";
import { quota } from "../../money/quota.ts";
import { findRefusalEnd } from "../window.ts";
import { askAgain } from "../../reservations/second-look.ts";
import { followCall, forgetWindowsCall, openCall, placeCall, putCall, type LiveBudgetHold } from "./calls.ts";
import { BudgetFollower } from "./follower.ts";
import { reapBudgets } from "./orphans.ts";
import { PLACED } from "./scripts.ts";

export interface LiveBudgetsDeps {
  readonly redis: RedisClient;
  readonly database: RawDatabase;
  readonly clock: Clock;
  readonly log: Logger;
  readonly lease: () => Lease;
  readonly epochs: RecoveryGate;
  /** Sends the waiting charges of this process. */
  readonly sendNow: () => void;
  readonly onOutage: OnOutage;
  /** Called once for each window when a budget passes a threshold, in percent; must not throw. */
  readonly onThreshold?: ((budget: Budget, percent: number) => void) | undefined;
  /** Reserves while Redis is unavailable, if the operator allows that. */
  readonly inDatabase: SqlBudgets;
}

/** The members of a settlement that budgets need. */
export interface BudgetSettlement {
  readonly hold: { readonly requestId: string; readonly userId: number };
  readonly quota: number;
  readonly budgets?: readonly number[] | undefined;
}

/** Budgets whose reservations are in Redis, in the same write as holds. */
export interface LiveBudgets extends BudgetReservations {
  /** Returns the call that replaces the reservation with the charge. It is sent before the charge. */
  settling(settlement: BudgetSettlement): ScriptCall | undefined;
  /**
   * Notes that the request has ended, so that this process no longer reports it after a data loss of Redis. If a
   * function is returned, call it when the charge has reached Redis.
   */
  ended(requestId: string): (() => void) | undefined;
  /** Returns the calls that restore open budget reservations in a Redis that may have lost them. */
  adoptions(): ScriptCall[];
  /**
   * Updates Redis after a commit under `epoch`. Rejects when Redis does not answer; the same charges are later found
   * booked.
   */
  booked(booked: BookedBudgets, epoch: number): Promise<void>;
  /** Updates Redis after a commit in which Redis had no part. Runs in the background. */
  follow(booked: BookedBudgets): void;
}

/** How long a client waits for a restarting Redis. */
const RESTART_MS = 2_000;
const REST_MS = 1_000;
const READ_MS = 5_000;
const STEP_MS = 200;
const TIMEOUT_MS = 2_000;

const GRANTED = [PLACED.granted] as const;

/**
 * Code of `PLACED`. If granted: the amount, the time at which windows were opened, and their budgets. If short: the
 * budget, 1 if only open reservations of others make it short, and the begin of its window.
 */
type PlaceAnswer = readonly [code: number, value?: unknown, detail?: unknown, ...others: unknown[]];

type OpenBudgets = LiveBudgetHold & { readonly isDirect: boolean };

export function createLiveBudgets(deps: LiveBudgetsDeps): LiveBudgets {
  return new RedisBudgets(deps);
}

class RedisBudgets implements LiveBudgets {
  readonly #deps: LiveBudgetsDeps;
  readonly #follower: BudgetFollower;
  readonly #open = new Map<string, OpenBudgets>();
  /** Ended requests whose charges have not reached Redis yet. */
  readonly #unsent = new Map<string, OpenBudgets>();
  #restsUntil = -Infinity;

  constructor(deps: LiveBudgetsDeps) {
    this.#deps = deps;
    this.#follower = new BudgetFollower(deps);
  }

  async place(placing: Placing): Promise<Placed> {
    const { onOutage } = this.#deps;
    const isDirect = this.#open.get(placing.requestId)?.isDirect === true;
    const isResting = this.#waitBudget().isOver || performance.now() < this.#restsUntil;
    if (isDirect || (onOutage === "sql" && isResting)) return this.#placeDirect(placing);
    try {
      const { placed } = await askAgain(
        () => this.#placeLive(placing),
        ({ isCrowded }) => !isCrowded,
        this.#deps.sendNow,
      );
      return placed;
    } catch (error) {
      // The reservation may exist although no answer arrived.
      if (!placing.held) this.#returnHeld(placing.requestId);
      this.#restsUntil = performance.now() + REST_MS;
      if (error instanceof RedisUnavailable) this.#waitBudget().waitedTooLong();
      if (onOutage === "sql" && !placing.held) return this.#placeDirect(placing);
      throw error;
    }
  }

  #waitBudget(): WaitBudget {
    const { redis } = this.#deps;
    return redis.getWaitBudget(redis.keys.budgets.state);
  }

  async #placeDirect(placing: Placing): Promise<Placed> {
    const answer = await this.#deps.inDatabase.place({ ...placing, elsewhere: this.#openInRedis() });
    this.#keep(placing, answer, true);
    return answer;
  }

  /** Amounts that requests of this process have reserved in Redis, which the database cannot see, by budget. */
  #openInRedis(): ReadonlyMap<number, number> {
    const sums = new Map<number, number>();
    for (const { isDirect, ids, amount } of [...this.#open.values(), ...this.#unsent.values()])
      if (!isDirect) for (const id of ids) sums.set(id, (sums.get(id) ?? 0) + amount);
    return sums;
  }

  async #placeLive(placing: Placing): Promise<{ readonly placed: Placed; readonly isCrowded: boolean }> {
    const { onOutage, epochs } = this.#deps;
    const startedAt = performance.now();
    const waitMs = onOutage === "sql" ? this.#waitBudget().ms : RESTART_MS;
    for (let isRepeated = false; ;) {
      const [code, value, detail, ...others] = await this.#ask(placing, startedAt + waitMs, isRepeated);
      isRepeated = true;
      if (code === PLACED.ended) return { placed: undefined, isCrowded: false };
      if (code === PLACED.short)
        return { placed: this.#refusal(placing, Number(value), Number(others[0])), isCrowded: detail === 1 };
      if (code === PLACED.granted) {
        if (others.length > 0) this.#follower.opened(others.map(Number), Number(detail));
        const answer = { granted: value === undefined ? placing.amount : quota(Number(value)) };
        this.#keep(placing, answer, false);
        return { placed: answer, isCrowded: false };
      }
      if (performance.now() > startedAt + READ_MS) throw new Error("budgets are not open yet");
      if (code === PLACED.unread) await this.#follower.read(placing.wanted, String(value));
      else {
        epochs.closed();
        await epochs.settled(Math.max(1, startedAt + READ_MS - performance.now()));
      }
    }
  }

  /** Retries while Redis is unavailable, within the time limit. Placing is idempotent. */
  async #ask(placing: Placing, deadline: number, wasAsked: boolean): Promise<PlaceAnswer> {
    const { redis, lease, clock } = this.#deps;
    for (let isRepeated = wasAsked; ;) {
      const rest = Math.max(1, Math.ceil(deadline - performance.now()));
      try {
        const call = placeCall(redis.keys, placing, { lease: lease(), now: clock.now(), isRepeated });
        const answer = await redis.sendOne(call, rest);
        return answer === PLACED.granted ? GRANTED : (answer as PlaceAnswer);
      } catch (error) {
        if (!(error instanceof RedisUnavailable) || performance.now() >= deadline) throw error;
        isRepeated ||= error.mayHaveRun;
        await redis.ready(Math.min(rest, STEP_MS));
      }
    }
  }

  #refusal({ wanted }: Placing, id: number, windowStart: number): Placed {
    const budget = wanted.find((one) => one.id === id);
    if (!budget) throw new Error(`Redis names budget ${id}, which was not asked`);
    return { budget, endsAt: findRefusalEnd({ ...budget, window_start: windowStart }, this.#deps.clock.now()) };
  }

  #keep({ requestId, userId, wanted }: Placing, answer: Placed, isDirect: boolean): void {
    if (!answer || isOverBudget(answer)) return;
    this.#open.set(requestId, {
      requestId,
      userId,
      amount: answer.granted,
      ids: wanted.map(({ id }) => id),
      isDirect,
    });
  }

  release(requestId: string): void {
    const known = this.#open.get(requestId);
    this.#open.delete(requestId);
    if (known?.isDirect) this.#deps.inDatabase.release(requestId);
    else if (known) this.#returnHeld(requestId);
  }

  /** Releases a reservation in the write of this event loop turn. If the call is lost, the lease expires. */
  #returnHeld(requestId: string): void {
    const { redis } = this.#deps;
    const call = followCall(redis.keys, { epoch: "", budgets: [], ended: [requestId] });
    void redis.sendOne(call, TIMEOUT_MS).catch(() => undefined);
  }

  settling({ hold, quota: charged, budgets = [] }: BudgetSettlement): ScriptCall | undefined {
    if (budgets.length === 0) return undefined;
    const { redis, lease } = this.#deps;
    const { requestId, userId } = hold;
    return putCall(redis.keys, { requestId, userId, amount: charged, ids: budgets }, lease(), true);
  }

  ended(requestId: string): (() => void) | undefined {
    const known = this.#open.get(requestId);
    if (!known) return undefined;
    this.#open.delete(requestId);
    if (known.isDirect) this.#deps.inDatabase.take(requestId);
    if (known.isDirect || this.#deps.onOutage === "deny") return undefined;
    this.#unsent.set(requestId, known);
    return () => void this.#unsent.delete(requestId);
  }

  adoptions(): ScriptCall[] {
    const { redis, lease } = this.#deps;
    const live = [...this.#open.values()].filter(({ isDirect, ids }) => !isDirect && ids.length > 0);
    return live.map((hold) => putCall(redis.keys, hold, lease(), false));
  }

  booked(booked: BookedBudgets, epoch: number): Promise<void> {
    this.#tell(booked);
    return this.#follower.booked(booked, epoch);
  }

  #tell({ passed }: BookedBudgets): void {
    for (const [budget, percent] of passed) this.#deps.onThreshold?.(budget, percent);
  }

  follow(booked: BookedBudgets): void {
    this.#tell(booked);
    this.#follower.follow(booked);
  }

  async restate(ids: readonly number[]): Promise<void> {
    const { redis } = this.#deps;
    if (ids.length === 0) return;
    await redis.sendOne(forgetWindowsCall(redis.keys, ids), TIMEOUT_MS);
    await this.#follower.current(ids);
  }

  reap(): Promise<number> {
    return reapBudgets({ ...this.#deps, follower: this.#follower });
  }

  async heldElsewhere(): Promise<ReadonlyMap<number, number>> {
    const { redis } = this.#deps;
    const sums = (await redis.sendOne(openCall(redis.keys), TIMEOUT_MS)) as readonly (readonly [string, string])[];
    return new Map(sums.map(([id, sum]) => [Number(id), Number(sum)]));
  }

  async idle(ms: number): Promise<void> {
    await Promise.all([this.#deps.inDatabase.idle(ms), this.#follower.idle(ms)]);
  }
}
