import type { Clock } from "../../lib/clock.ts";
import type { RawDatabase, RawTransaction } from "../../storage/engines/raw.ts";
import type { Budget, BudgetHold, BudgetRefusal } from "./budget.ts";
import { HOLDS, lockBudgets, REAPED, RequestRows, writeBudgets, type HoldRow, type ReapedRow } from "./rows.ts";
import { budgetWindow } from "./window.ts";
import { inList } from "../../storage/statements.ts";

/** Puts `amount` in each of `ids` in the place of what the request has reserved, all or nothing. */
interface BatchSlot {
  readonly kind: "place";
  readonly requestId: string;
  readonly ids: readonly number[];
  readonly amount: number;
  readonly held: BudgetHold | undefined;
}

/** Writes what was charged in each of `ids`, and releases the reservation. */
export interface Close {
  readonly kind: "close";
  readonly requestId: string;
  readonly ids: readonly number[];
  readonly charged: number;
  readonly held: BudgetHold | undefined;
  /** The charge may be paid back, or come twice: what it put into each budget is remembered for that. */
  readonly isRefundable?: boolean;
}

/** Moves the lease. */
interface Renew {
  readonly kind: "renew";
  readonly requestId: string;
}

/** Charges, for a request that is no longer renewed, what the ledger says. */
interface Reap {
  readonly kind: "reap";
  readonly requestId: string;
  readonly ids: readonly number[];
  readonly charged: number;
  /** The ledger has nothing to add any more. */
  readonly isFinal: boolean;
}

/** Puts what the ledger says now in the place of what a reaped request was charged. */
interface Recount {
  readonly kind: "recount";
  readonly requestId: string;
  readonly ids: readonly number[];
  /** Undefined while it says nothing. */
  readonly charged: number | undefined;
  readonly isFinal: boolean;
}

export type BudgetOperation = BatchSlot | Close | Renew | Reap | Recount;

/** False when there was nothing to do it for: the request has ended, or lives after all. */
export type BudgetAnswer = boolean | BudgetRefusal;

export interface WrittenBatch {
  readonly answers: readonly BudgetAnswer[];
  /** Thresholds that were passed, in percent. */
  readonly passed: readonly (readonly [Budget, number])[];
}

export interface BatchDeps {
  readonly database: RawDatabase;
  readonly clock: Clock;
}

export const LEASE_MS = 120_000;
/** More could not be read back, and would fail every request that shares a transaction with this budget. */
const MOST_USED = Number.MAX_SAFE_INTEGER;
/** Time between two reads of the ledger for a reaped request: as long as it has waited, within these bounds. */
const LOOK_MS = { least: 60_000, most: 3_600_000 };
/** Journals of a replica that is away may bring charges for so long. */
const RETENTION_MS = 7 * 86_400_000;
/** Longer than any refund can take. */
const REFUNDABLE_MS = 2 * 86_400_000;

/** Writes all of them in one transaction, one after the other as they came: each budget is locked and written once. */
export function writeBatch(operations: readonly BudgetOperation[], deps: BatchDeps): Promise<WrittenBatch> {
  const { database, clock } = deps;
  return database.transaction(async (tx) => {
    const now = clock.now();
    const sheet = await BatchState.open(tx, operations, { kind: database.kind, now });
    const answers = operations.map((operation) => sheet.apply(operation));
    await sheet.write(tx);
    return { answers, passed: sheet.passed };
  });
}

interface BatchSettings {
  readonly kind: RawDatabase["kind"];
  readonly now: number;
}

/** The rows that one transaction reads and writes. A request is read only after its budgets are locked. */
class BatchState {
  readonly passed: [Budget, number][] = [];
  readonly #settings: BatchSettings;
  readonly #budgets: Map<number, Budget>;
  readonly #changed = new Set<number>();
  readonly #holds: RequestRows<HoldRow>;
  readonly #reaped: RequestRows<ReapedRow>;
  readonly #renewed = new Set<string>();

  private constructor(
    settings: BatchSettings,
    budgets: Map<number, Budget>,
    holds: RequestRows<HoldRow>,
    reaped: RequestRows<ReapedRow>,
  ) {
    this.#settings = settings;
    this.#budgets = budgets;
    this.#holds = holds;
    this.#reaped = reaped;
  }

  static async open(
    tx: RawTransaction,
    operations: readonly BudgetOperation[],
    settings: BatchSettings,
  ): Promise<BatchState> {
    const ids = [...new Set(operations.flatMap(budgetsOf))].sort((a, b) => a - b);
    const budgets = await lockBudgets(tx, settings.kind, ids, settings.now);
    const holds = await RequestRows.read(tx, HOLDS, namesOf(operations.filter(hasReserved)));
    const isReaped = (one: BudgetOperation) =>
      one.kind === "recount" || (one.kind === "close" && hasReserved(one) && holds.of(one.requestId).size === 0);
    const reaped = await RequestRows.read(tx, REAPED, namesOf(operations.filter(isReaped)));
    return new BatchState(settings, budgets, holds, reaped);
  }

  apply(operation: BudgetOperation): BudgetAnswer {
    switch (operation.kind) {
      case "place":
        return this.#place(operation);
      case "close":
        return this.#close(operation);
      case "reap":
        return this.#reap(operation);
      case "recount":
        return this.#recount(operation);
      case "renew":
        this.#renewed.add(operation.requestId);
        return true;
    }
  }

  async write(tx: RawTransaction): Promise<void> {
    const { kind, now } = this.#settings;
    const changed = [...this.#budgets.values()].filter(({ id }) => this.#changed.has(id));
    await writeBudgets(tx, kind, changed);
    await this.#holds.write(tx, kind);
    await this.#reaped.write(tx, kind);
    if (this.#renewed.size === 0) return;
    const { marks, values } = inList([...this.#renewed]);
    const sql = `update budget_holds set lease_until = ? where request_id in ${marks}`;
    await tx.run(sql, [now + LEASE_MS, ...values]);
  }

  #place({ requestId, ids, amount, held }: BatchSlot): BudgetAnswer {
    const { now } = this.#settings;
    const before = this.#holds.of(requestId);
    if (held && held.ids.size > 0 && before.size === 0) return false;
    const wanted = new Set(ids);
    const steps = [...new Set([...before.keys(), ...ids])]
      .sort((a, b) => a - b)
      .flatMap((id) => this.#budgets.get(id) ?? [])
      .map((budget) => ({
        budget,
        more: (wanted.has(budget.id) ? amount : 0) - (before.get(budget.id)?.amount ?? 0),
      }));
    const short = steps.find(
      ({ budget: { is_hard, quota_limit, used, held: others }, more }) =>
        is_hard === 1 && more > 0 && quota_limit - used - others < more,
    );
    if (short) {
      const { period, time_zone: zone } = short.budget;
      return { budget: short.budget, endsAt: budgetWindow(period, zone, now).end };
    }
    for (const { budget, more } of steps) this.#change(budget, 0, more);
    const lease = { amount, lease_until: now + LEASE_MS };
    const rows = steps.filter(({ budget }) => wanted.has(budget.id));
    this.#holds.put(
      requestId,
      rows.map(({ budget }) => ({ request_id: requestId, budget_id: budget.id, ...lease })),
    );
    return true;
  }

  #close(operation: Close): boolean {
    const { requestId, ids, charged, held } = operation;
    const refundable = this.#refundable(operation);
    const counted = new Set(ids);
    const holds = this.#holds.of(requestId);
    const reaped = this.#reaped.of(requestId);
    for (const id of new Set([...holds.keys(), ...reaped.keys(), ...ids])) {
      const due = counted.has(id) ? charged : 0;
      const hold = holds.get(id);
      const before = reaped.get(id);
      const budget = this.#budgets.get(id);
      if (!budget) continue;
      if (hold) this.#change(budget, due, 0 - hold.amount);
      else if (before) this.#correct(budget, due - before.charged, before);
      // A reservation that no longer exists was closed elsewhere.
      else if (!held?.ids.has(id)) this.#change(budget, due, 0);
    }
    if (holds.size > 0) this.#holds.put(requestId, []);
    if (reaped.size + refundable.length > 0) this.#reaped.put(requestId, refundable);
    return true;
  }

  #refundable({ requestId, ids, charged, isRefundable = false }: Close): ReapedRow[] {
    if (!isRefundable || charged === 0) return [];
    const { now } = this.#settings;
    const row = { request_id: requestId, charged, closed_at: now, look_at: now + REFUNDABLE_MS };
    return ids.filter((id) => this.#budgets.has(id)).map((id) => ({ ...row, budget_id: id }));
  }

  #reap({ requestId, charged, isFinal }: Reap): boolean {
    const { now } = this.#settings;
    const holds = [...this.#holds.of(requestId).values()];
    const isAlive = this.#renewed.has(requestId) || holds.some((hold) => hold.lease_until > now);
    if (isAlive || holds.length === 0) return false;
    for (const { budget_id: id, amount } of holds) {
      const budget = this.#budgets.get(id);
      if (budget) this.#change(budget, charged, 0 - amount);
    }
    this.#holds.put(requestId, []);
    if (isFinal) return true;
    const closing = { charged, closed_at: now, look_at: now + LOOK_MS.least };
    this.#reaped.put(
      requestId,
      holds.map(({ budget_id }) => ({ request_id: requestId, budget_id, ...closing })),
    );
    return true;
  }

  #recount({ requestId, charged, isFinal }: Recount): boolean {
    const { now } = this.#settings;
    const rows = [...this.#reaped.of(requestId).values()];
    for (const row of rows) {
      const budget = this.#budgets.get(row.budget_id);
      if (budget && charged !== undefined) this.#correct(budget, charged - row.charged, row);
    }
    const remaining = rows.filter(({ closed_at }) => !isFinal && now - closed_at < RETENTION_MS);
    this.#reaped.put(
      requestId,
      remaining.map((row) => {
        const wait = Math.min(Math.max(now - row.closed_at, LOOK_MS.least), LOOK_MS.most);
        return { ...row, charged: charged ?? row.charged, look_at: now + wait };
      }),
    );
    return rows.length > 0;
  }

  /** Corrects a reaped charge. Windows that have ended are not lowered. */
  #correct(budget: Budget, more: number, { closed_at }: ReapedRow): void {
    if (more < 0 && budget.window_start * 1000 > closed_at) return;
    this.#change(budget, more, 0);
  }

  #change(before: Budget, used: number, held: number): void {
    if (used === 0 && held === 0) return;
    const budget = { ...before, used: Math.min(before.used + used, MOST_USED), held: before.held + held };
    this.#budgets.set(budget.id, budget);
    this.#changed.add(budget.id);
    for (const percent of [budget.soft_percent, 100]) {
      const threshold = (budget.quota_limit * percent) / 100;
      if (percent > 0 && before.used < threshold && budget.used >= threshold) this.passed.push([budget, percent]);
    }
  }
}

function budgetsOf(operation: BudgetOperation): readonly number[] {
  if (operation.kind === "renew") return [];
  const isOpen = operation.kind === "place" || operation.kind === "close";
  return isOpen && operation.held ? [...operation.ids, ...operation.held.asked] : operation.ids;
}

/** True when the request may have rows. */
function hasReserved(operation: BudgetOperation): boolean {
  const { kind } = operation;
  return kind === "reap" || ((kind === "place" || kind === "close") && operation.held !== undefined);
}

function namesOf(operations: readonly BudgetOperation[]): readonly string[] {
  return [...new Set(operations.map(({ requestId }) => requestId))];
}
