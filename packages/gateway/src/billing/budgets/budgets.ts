import { setTimeout as pause } from "node:timers/promises";
import { AppError } from "../../lib/app-error.ts";
import type { Clock } from "../../lib/clock.ts";
import { createBatcher, type Batcher } from "../../lib/async/batcher.ts";
import type { Logger } from "../../observability/log.ts";
import type { RawDatabase } from "../../storage/engines/raw.ts";
import type { Budget, BudgetHold, BudgetRefusal, BudgetSubjects, BudgetUse } from "./budget.ts";
import { writeBatch, type BudgetAnswer, type BudgetOperation, type Close } from "./batch.ts";
import { BudgetIndex, type KnownBudget } from "./lookup.ts";
import { BudgetReaper } from "./reaper.ts";
import { ZERO, type Quota } from "../money/quota.ts";

/**
 * What may be spent in a day, a week or a month. A request reserves in every budget that it counts for, all or nothing,
 * so that requests at the same time cannot spend the same rest twice. What arrives while a transaction is under way
 * shares the next one.
 */
export interface Budgets {
  /** True while there are none: then nothing has to be asked. */
  readonly isEmpty: boolean;
  /** Reads which budgets there are. */
  reload(): Promise<void>;
  /** False when none concerns such requests, whichever channel and group serve them. */
  mayConcern(subjects: Pick<BudgetSubjects, "tokenId" | "userId" | "model">): boolean;
  /** False when there is nothing to ask for a request. */
  concerns(use: Pick<BudgetUse, "subjects" | "held">): boolean;
  /**
   * Reserves `amount` in the place of what is held, all or nothing; undefined when nothing is reserved. Changes nothing
   * when the request has ended. Throws `budgets_unavailable` when a hard budget cannot be asked.
   */
  reserve(use: BudgetUse, amount: Quota): Promise<BudgetHold | BudgetRefusal | undefined>;
  /** The same for a running answer. Never rejects: it is not ended because the database is away. */
  extend(use: BudgetUse, amount: Quota): Promise<BudgetHold | BudgetRefusal | undefined>;
  /**
   * Puts what was charged in the place of what was reserved, also in budgets that were made meanwhile; 0 gives it back.
   * Never rejects, and reads nothing when no budget applies. A refund lowers the charge again.
   */
  settle(use: BudgetUse, charged: Quota, isRefundable?: boolean): Promise<void>;
  /** Moves the lease; called every few seconds. Never rejects. */
  renew(requestId: string): Promise<void>;
  /** Settles what died with its process at what the ledger says, now and when it says more; answers how many. */
  reap(): Promise<number>;
  /** Resolves when nothing is on its way to the database, or after `ms`. */
  idle(ms: number): Promise<void>;
}

/** The effect of a budget operation that the database did not answer. */
export type BudgetOutage =
  | "refused" // a request, because of a hard budget
  | "passed" // a request continued without a reservation
  | "deferred" // the reaper does it
  | "lost"; // a budget that was made meanwhile does not have the charge

export interface BudgetsSettings {
  readonly database: RawDatabase;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called once for each window when a threshold is passed; must not throw. */
  readonly onThreshold: (budget: Budget, percent: number) => void;
  /** Must not throw. */
  readonly onOutage: (meaning: BudgetOutage) => void;
}

/** Operations that share a transaction; more only make the first ones wait. */
const BATCH = 256;
const RETRY_AFTER_MS = 1_000;
/** Between two tries to charge what soft budgets let through while the database was away. */
const LATE_EVERY_MS = 5_000;
/** Most charges that stay in memory. */
const MOST_LATE = 50_000;
const NO_IDS: ReadonlySet<number> = new Set();

export function createBudgets(settings: BudgetsSettings): Budgets {
  return new SqlBudgets(settings);
}

class SqlBudgets implements Budgets {
  readonly #settings: BudgetsSettings;
  readonly #queue: Batcher<BudgetOperation, BudgetAnswer>;
  readonly #reaper: BudgetReaper;
  /** Charges that have no reservation for the reaper to find, by request. */
  readonly #late = new Map<string, Close>();
  #bringing: NodeJS.Timeout | undefined;
  #index = new BudgetIndex([]);
  /** Reads begun, and the one that the index is of: an older one that ends later is nothing new. */
  #reads = 0;
  #indexed = 0;

  constructor(settings: BudgetsSettings) {
    this.#settings = settings;
    this.#queue = createBatcher({ maxJobs: BATCH, startsAt: "now", work: (operations) => this.#write(operations) });
    this.#reaper = new BudgetReaper({ ...settings, write: (operation) => this.#queue.add(operation) });
  }

  get isEmpty(): boolean {
    return this.#index.isEmpty;
  }

  async reload(): Promise<void> {
    const read = (this.#reads += 1);
    const sql = "select id, scope, subject, is_hard from budgets order by id";
    const known = await this.#settings.database.rows<KnownBudget>(sql, []);
    if (read < this.#indexed) return;
    this.#index = new BudgetIndex(known);
    this.#indexed = read;
  }

  mayConcern(subjects: Pick<BudgetSubjects, "tokenId" | "userId" | "model">): boolean {
    return this.#index.mayConcern(subjects);
  }

  concerns({ subjects, held }: Pick<BudgetUse, "subjects" | "held">): boolean {
    return held !== undefined || this.#index.find(subjects).length > 0;
  }

  async reserve(use: BudgetUse, amount: Quota): Promise<BudgetHold | BudgetRefusal | undefined> {
    const wanted = this.#index.find(use.subjects);
    if (isReserved(use.held, wanted, amount)) return use.held;
    try {
      return await this.#place(use, wanted, amount);
    } catch (cause) {
      if (!needsMore(use.held, wanted, amount)) return this.#passed(use, wanted, cause);
      this.#settings.onOutage("refused");
      throw new AppError("budgets_unavailable", { cause, retryAfterMs: RETRY_AFTER_MS });
    }
  }

  async extend(use: BudgetUse, amount: Quota): Promise<BudgetHold | BudgetRefusal | undefined> {
    const wanted = this.#index.find(use.subjects);
    if (isReserved(use.held, wanted, amount)) return use.held;
    return this.#place(use, wanted, amount).catch((error: unknown) => this.#passed(use, wanted, error));
  }

  async #place(
    { requestId, held }: BudgetUse,
    wanted: readonly KnownBudget[],
    amount: Quota,
  ): Promise<BudgetHold | BudgetRefusal> {
    const ids = wanted.map(({ id }) => id);
    const answer = await this.#queue.add({ kind: "place", requestId, ids, amount, held });
    if (typeof answer === "object") return answer;
    const asked = allAsked(held, wanted);
    return held && !answer ? { ...held, asked } : { amount, ids: new Set(ids), asked };
  }

  /** Lets a request pass unreserved; it is charged at its end. */
  #passed({ requestId, held }: BudgetUse, wanted: readonly KnownBudget[], error: unknown): BudgetHold {
    this.#settings.onOutage("passed");
    this.#settings.log.warn("a budget could not be checked; its request continues", { error, request_id: requestId });
    return { amount: held?.amount ?? ZERO, ids: held?.ids ?? NO_IDS, asked: allAsked(held, wanted) };
  }

  async settle({ requestId, subjects, held }: BudgetUse, charged: Quota, isRefundable = false): Promise<void> {
    const ids = charged === ZERO ? [] : this.#index.find(subjects).map(({ id }) => id);
    if (!held && ids.length === 0) return;
    const without = ids.filter((id) => !held?.ids.has(id));
    const isPassed = without.some((id) => held?.asked.has(id));
    const close = { kind: "close", requestId, ids, charged, held, isRefundable: isRefundable || isPassed } as const;
    try {
      await this.#queue.add(close);
    } catch (error) {
      const isLost = without.length > 0 && !(isPassed && this.#keep(close));
      this.#settings.onOutage(isLost ? "lost" : "deferred");
      this.#settings.log.error("a budget could not be settled; the reaper will settle the reservation", {
        error,
        request_id: requestId,
        charged,
        without,
      });
    }
  }

  /** False when there is no room. */
  #keep(close: Close): boolean {
    if (this.#late.size >= MOST_LATE) return false;
    this.#late.set(close.requestId, close);
    this.#bringLater();
    return true;
  }

  #bringLater(): void {
    this.#bringing ??= setTimeout(() => void this.#bring(), LATE_EVERY_MS).unref();
  }

  async #bring(): Promise<void> {
    clearTimeout(this.#bringing);
    this.#bringing = undefined;
    const brought = [...this.#late.values()].map(async (close) => {
      await this.#queue.add(close);
      this.#late.delete(close.requestId);
    });
    await Promise.allSettled(brought);
    if (this.#late.size > 0) this.#bringLater();
  }

  async renew(requestId: string): Promise<void> {
    try {
      await this.#queue.add({ kind: "renew", requestId });
    } catch (error) {
      this.#settings.log.warn("a budget reservation could not be renewed", { error, request_id: requestId });
    }
  }

  reap(): Promise<number> {
    return this.#reaper.run();
  }

  async idle(ms: number): Promise<void> {
    const waiting = new AbortController();
    const late = pause(ms, undefined, { signal: waiting.signal }).catch(() => undefined);
    const brought = this.#late.size > 0 ? this.#bring() : Promise.resolve();
    await Promise.race([brought.then(() => this.#queue.idle()), late]);
    waiting.abort();
  }

  async #write(operations: readonly BudgetOperation[]): Promise<readonly BudgetAnswer[]> {
    const { answers, passed } = await writeBatch(operations, this.#settings);
    for (const [budget, percent] of passed) this.#settings.onThreshold(budget, percent);
    return answers;
  }
}

/** True when nothing has to be written. */
function isReserved(held: BudgetHold | undefined, wanted: readonly KnownBudget[], amount: Quota): boolean {
  if (!held) return wanted.length === 0 || amount === ZERO;
  const isSame = held.ids.size === wanted.length && wanted.every(({ id }) => held.ids.has(id));
  return isSame && (wanted.length === 0 || held.amount === amount);
}

/** True when a hard budget has to carry more than it does. */
function needsMore(held: BudgetHold | undefined, wanted: readonly KnownBudget[], amount: Quota): boolean {
  return wanted.some(({ id, is_hard }) => is_hard === 1 && (!held?.ids.has(id) || amount > held.amount));
}

function allAsked(held: BudgetHold | undefined, wanted: readonly KnownBudget[]): ReadonlySet<number> {
  return new Set([...(held?.asked ?? []), ...wanted.map(({ id }) => id)]);
}
