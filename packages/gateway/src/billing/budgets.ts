import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../observability/log.ts";
import type { RawDatabase, RawTransaction } from "../storage/raw.ts";
import { budgetWindow, type BudgetPeriod } from "./budget-window.ts";
import type { Quota } from "./quota.ts";
import { forUpdate, inList, insertRows } from "./sql-text.ts";

export const BUDGET_SCOPES = ["token", "user", "group", "model", "channel"] as const;
export type BudgetScope = (typeof BUDGET_SCOPES)[number];

/** Whom a request counts for. */
export interface BudgetSubjects {
  /** 0 = none (playground). */
  readonly tokenId: number;
  readonly userId: number;
  readonly group: string;
  readonly model: string;
  readonly channelId: number;
}

export interface Budget {
  readonly id: number;
  readonly scope: BudgetScope;
  /** Id or name. */
  readonly subject: string;
  readonly period: BudgetPeriod;
  readonly time_zone: string;
  readonly quota_limit: number;
  /** Part of the limit at which somebody is told; 0 = never. */
  readonly soft_percent: number;
  /** 1 = nothing beyond the limit is let through; 0 = it is only told. */
  readonly is_hard: number;
  readonly window_start: number;
  readonly used: number;
  readonly held: number;
}

/** What a request has reserved, in every budget that it counts for. */
export interface BudgetShare {
  readonly subjects: BudgetSubjects;
  readonly amount: Quota;
}

export interface BudgetRefusal {
  readonly budget: Budget;
  /** Seconds at which the next window begins. */
  readonly endsAt: number;
}

/**
 * What may be spent in a day, a week or a month. A request reserves in every budget that it counts for, all or nothing,
 * so that requests at the same time cannot spend the same rest twice.
 */
export interface Budgets {
  /** True while there are none: then nothing has to be asked. */
  readonly isEmpty: boolean;
  /** Reads which budgets there are. */
  reload(): Promise<void>;
  /** Undefined when it is reserved, or when no budget is concerned. */
  reserve(requestId: string, subjects: BudgetSubjects, amount: Quota): Promise<BudgetRefusal | undefined>;
  /**
   * Reserves for another channel what is reserved for one, all or nothing. Changes nothing when the request has ended.
   */
  move(requestId: string, from: BudgetShare, to: BudgetShare): Promise<BudgetRefusal | undefined>;
  /**
   * Reserves more for a running answer; false when a hard budget cannot carry it. Never rejects: an answer is not ended
   * because the database is away.
   */
  extend(requestId: string, share: BudgetShare, amount: Quota): Promise<boolean>;
  /** Puts what was charged in the place of what was reserved; 0 gives it back. Never rejects. */
  settle(requestId: string, subjects: BudgetSubjects, charged: number): Promise<void>;
  /** Moves the lease; called every few seconds. Never rejects. */
  renew(requestId: string): Promise<void>;
  /** Settles what died with its process at what the ledger says; answers how many. */
  reap(): Promise<number>;
}

export interface BudgetsSettings {
  readonly database: RawDatabase;
  readonly clock: Clock;
  readonly log: Logger;
  /** Told once for each window when a threshold is passed; must not throw. */
  readonly onThreshold: (budget: Budget, percent: number) => void;
}

const LEASE_MS = 120_000;
/** A charge without a row in the ledger by then was none. */
const GIVEN_UP_MS = 600_000;
const REAPED_AT_ONCE = 100;
const COLUMNS = "id, scope, subject, period, time_zone, quota_limit, soft_percent, is_hard, window_start, used, held";

export function createBudgets(settings: BudgetsSettings): Budgets {
  return new SqlBudgets(settings);
}

class SqlBudgets implements Budgets {
  readonly #settings: BudgetsSettings;
  /** Ids by scope and subject. */
  #known = new Map<string, number[]>();

  constructor(settings: BudgetsSettings) {
    this.#settings = settings;
  }

  get isEmpty(): boolean {
    return this.#known.size === 0;
  }

  async reload(): Promise<void> {
    const sql = "select id, scope, subject from budgets";
    const rows = await this.#settings.database.rows<Pick<Budget, "id" | "scope" | "subject">>(sql, []);
    const known = new Map<string, number[]>();
    for (const { id, scope, subject } of rows) {
      const name = `${scope}:${subject}`;
      known.set(name, [...(known.get(name) ?? []), id]);
    }
    this.#known = known;
  }

  async reserve(requestId: string, subjects: BudgetSubjects, amount: Quota): Promise<BudgetRefusal | undefined> {
    const ids = this.#idsOf(subjects);
    if (ids.length === 0 || amount === 0) return undefined;
    return this.#settings.database.transaction((tx) =>
      this.#write(tx, requestId, NOTHING, { ids: new Set(ids), amount }),
    );
  }

  async move(requestId: string, from: BudgetShare, to: BudgetShare): Promise<BudgetRefusal | undefined> {
    const before = this.#idsOf(from.subjects);
    const after = this.#idsOf(to.subjects);
    const isSame = before.length === after.length && before.every((id) => after.includes(id));
    if (to.amount === 0 || (isSame && (before.length === 0 || from.amount === to.amount))) return undefined;
    return this.#settings.database.transaction(async (tx) => {
      const reserved = await reservedBy(tx, requestId);
      const hasEnded = before.length > 0 && reserved.size === 0;
      return hasEnded ? undefined : this.#write(tx, requestId, reserved, { ids: new Set(after), amount: to.amount });
    });
  }

  async extend(requestId: string, share: BudgetShare, amount: Quota): Promise<boolean> {
    try {
      return (await this.move(requestId, share, { ...share, amount })) === undefined;
    } catch (error) {
      this.#settings.log.warn("a budget's reservation could not be extended, its request goes on", {
        error,
        request_id: requestId,
      });
      return true;
    }
  }

  /** Puts `amount` in each of these budgets in the place of what the request has reserved. */
  async #write(
    tx: RawTransaction,
    requestId: string,
    reserved: ReadonlyMap<number, number>,
    { ids, amount }: { readonly ids: ReadonlySet<number>; readonly amount: Quota },
  ): Promise<BudgetRefusal | undefined> {
    const { database, clock } = this.#settings;
    const locked = await this.#lock(tx, [...new Set([...reserved.keys(), ...ids])]);
    const wanted = locked.map((budget) => ({
      budget,
      more: (ids.has(budget.id) ? amount : 0) - (reserved.get(budget.id) ?? 0),
    }));
    const short = wanted.find(
      ({ budget: { is_hard, quota_limit, used, held }, more }) =>
        is_hard === 1 && more > 0 && quota_limit - used - held < more,
    );
    if (short) return { budget: short.budget, endsAt: this.#windowOf(short.budget).end };
    for (const { budget, more } of wanted) await write(tx, { ...budget, held: budget.held + more });
    if (reserved.size > 0) await tx.run("delete from budget_holds where request_id = ?", [requestId]);
    const rows = locked
      .filter(({ id }) => ids.has(id))
      .map(({ id }) => [requestId, id, amount, clock.now() + LEASE_MS]);
    await insertRows(tx, database.kind, HOLDS, rows);
    return undefined;
  }

  async settle(requestId: string, subjects: BudgetSubjects, charged: number): Promise<void> {
    try {
      await this.#close(requestId, charged, subjects);
    } catch (error) {
      this.#settings.log.error("a budget could not be settled, the reaper does it", { error, request_id: requestId });
    }
  }

  async renew(requestId: string): Promise<void> {
    const { database, clock, log } = this.#settings;
    try {
      const sql = "update budget_holds set lease_until = ? where request_id = ?";
      await database.run(sql, [clock.now() + LEASE_MS, requestId]);
    } catch (error) {
      log.warn("a budget's reservation could not be renewed", { error, request_id: requestId });
    }
  }

  async reap(): Promise<number> {
    const { database, clock } = this.#settings;
    const now = clock.now();
    const sql = `select request_id, min(lease_until) as lease_until from budget_holds where lease_until <= ? group by request_id order by 2 limit ${REAPED_AT_ONCE}`;
    const due = await database.rows<{ request_id: string; lease_until: number }>(sql, [now]);
    let reaped = 0;
    for (const { request_id: id, lease_until: leaseUntil } of due) {
      const charged = await chargedFor(database, id);
      if (charged === undefined && leaseUntil > now - GIVEN_UP_MS) continue;
      await this.#close(id, charged ?? 0, undefined);
      reaped += 1;
    }
    return reaped;
  }

  /** Without `subjects` everything that was reserved is charged. */
  async #close(requestId: string, charged: number, subjects: BudgetSubjects | undefined): Promise<void> {
    const { database } = this.#settings;
    const passed = await database.transaction(async (tx) => {
      const reserved = await reservedBy(tx, requestId);
      if (reserved.size === 0) return [];
      // Another channel may have served than the one that was reserved for.
      const counted = new Set(subjects ? this.#idsOf(subjects) : reserved.keys());
      const budgets = await this.#lock(tx, [...new Set([...reserved.keys(), ...counted])]);
      // Somebody else has closed it: the books have it already.
      if ((await tx.run("delete from budget_holds where request_id = ?", [requestId])) === 0) return [];
      const told: [Budget, number][] = [];
      for (const budget of budgets) {
        const used = budget.used + (counted.has(budget.id) ? charged : 0);
        await write(tx, { ...budget, used, held: budget.held - (reserved.get(budget.id) ?? 0) });
        for (const percent of [budget.soft_percent, 100]) {
          const threshold = (budget.quota_limit * percent) / 100;
          if (percent > 0 && budget.used < threshold && used >= threshold) told.push([{ ...budget, used }, percent]);
        }
      }
      return told;
    });
    for (const [budget, percent] of passed) this.#settings.onThreshold(budget, percent);
  }

  #idsOf({ tokenId, userId, group, model, channelId }: BudgetSubjects): number[] {
    if (this.isEmpty) return [];
    const names = [`user:${userId}`, `group:${group}`, `model:${model}`, `channel:${channelId}`];
    if (tokenId !== 0) names.push(`token:${tokenId}`);
    return names.flatMap((name) => this.#known.get(name) ?? []);
  }

  /** By rising id, in the window that runs now. */
  async #lock(tx: RawTransaction, ids: readonly number[]): Promise<Budget[]> {
    const { marks, values } = inList(ids);
    const lock = forUpdate(this.#settings.database.kind);
    const rows = await tx.rows<Budget>(
      `select ${COLUMNS} from budgets where id in ${marks} order by id${lock}`,
      values,
    );
    return rows.map((budget) => {
      const { start } = this.#windowOf(budget);
      return start > budget.window_start ? { ...budget, window_start: start, used: 0 } : budget;
    });
  }

  #windowOf({ period, time_zone: zone }: Budget) {
    return budgetWindow(period, zone, this.#settings.clock.now());
  }
}

const HOLDS = { table: "budget_holds", columns: ["request_id", "budget_id", "amount", "lease_until"] } as const;

const NOTHING: ReadonlyMap<number, number> = new Map();

/** By budget. */
async function reservedBy(tx: RawTransaction, requestId: string): Promise<ReadonlyMap<number, number>> {
  const sql = "select budget_id, amount from budget_holds where request_id = ?";
  const holds = await tx.rows<{ budget_id: number; amount: number }>(sql, [requestId]);
  return new Map(holds.map(({ budget_id: id, amount }) => [id, amount]));
}

async function write(tx: RawTransaction, { id, window_start: start, used, held }: Budget): Promise<void> {
  await tx.run("update budgets set window_start = ?, used = ?, held = ? where id = ?", [start, used, held, id]);
}

/** Undefined when the ledger has nothing of the request. */
async function chargedFor(database: RawDatabase, requestId: string): Promise<number | undefined> {
  const sql = "select quota from ledger where request_id = ? and kind in ('consume', 'correct')";
  const rows = await database.rows<{ quota: number }>(sql, [requestId]);
  return rows.length === 0 ? undefined : -rows.reduce((sum, { quota }) => sum + quota, 0);
}
