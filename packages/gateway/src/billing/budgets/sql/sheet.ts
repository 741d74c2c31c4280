import type { RawDatabase, RawTransaction } from "../../../storage/engines/raw.ts";
import type { LeaseTime } from "../../reservations/lease-time.ts";
import { inList } from "../../../storage/statements.ts";
import { calculateGrant, type Budget, type Placed, type Placing } from "../budget.ts";
import {
  HOLDS,
  lockBudgets,
  REAPED,
  RequestRows,
  writeBudgets,
  type HoldRow,
  type ReapedRow,
  type RowsOf,
} from "./rows.ts";
import { findRefusalEnd, inWindow, isOver, withWindow } from "../window.ts";
import { recordBudgetEvent } from "../budget-events.ts";
import { readThresholds } from "../thresholds.ts";
import type { ReservedInMemory } from "./memory.ts";

/** The end of a request, with the members that its budgets need. */
export interface BudgetClose {
  readonly requestId: string;
  /** Budgets that count the request. */
  readonly ids: readonly number[];
  /** Undefined if nothing is charged; then the reservation is released. */
  readonly charged: number | undefined;
  /** Time at which the request ended, epoch milliseconds. */
  readonly at: number;
  /** The charge replaces an earlier charge. */
  readonly isCorrection?: boolean;
  /** The charge may be corrected or refunded, so the amount of each budget is recorded. */
  readonly isRemembered?: boolean;
  /** Budgets in which the request may have reserved, if known; otherwise its rows are read. */
  readonly asked?: ReadonlySet<number> | undefined;
}

export interface WrittenBudgets {
  /** State after the transaction of the budgets that changed and those that count one of the requests. */
  readonly budgets: readonly Budget[];
  /** Thresholds that a budget has passed, in percent. */
  readonly passed: readonly (readonly [Budget, number])[];
}

/** The budgets of booked charges, and the requests that are no longer open in any budget. */
export interface BookedBudgets extends WrittenBudgets {
  readonly ended: readonly string[];
}

export interface SheetSettings {
  readonly kind: RawDatabase["kind"];
  /** Milliseconds. */
  readonly now: number;
  /** The time that decides the age of reservations; default: `now`. */
  readonly leaseNow?: number;
  /** Reservations in memory; without it, they are in the database. */
  readonly reserved?: ReservedInMemory | undefined;
}

/** A reservation without a hold is released after this time. */
export const ORPHAN_MS = 120_000;
/** A larger number could not be read back, and would fail every request that shares a transaction with this budget. */
const MAX_USED = Number.MAX_SAFE_INTEGER;
/** Journals of an unreachable replica may bring corrections for this long; refunds arrive sooner. */
const RETENTION_MS = 7 * 86_400_000;

/** Reserves for the requests in order of arrival. */
export async function placeBudgets(
  tx: RawTransaction,
  placings: readonly Placing[],
  settings: SheetSettings,
): Promise<readonly Placed[]> {
  const ids = new Set<number>();
  for (const { asked } of placings) for (const id of asked) ids.add(id);
  const requestIds = placings.filter(({ held }) => held !== undefined).map(({ requestId }) => requestId);
  const sheet = await BudgetSheet.open(tx, { ids, requestIds, corrected: [] }, settings);
  const answers = placings.map((placing) => sheet.place(placing));
  await sheet.write(tx);
  return answers;
}

/** Charges and releases reservations. Runs last in the transaction that books the charges. */
export async function closeBudgets(
  tx: RawTransaction,
  closes: readonly BudgetClose[],
  settings: SheetSettings,
): Promise<WrittenBudgets> {
  if (closes.length === 0) return NOTHING;
  const { reserved } = settings;
  const isReserved = closes.some(({ asked }) => asked === undefined) && (await hasReservations(tx, reserved));
  const mayHave = ({ asked }: BudgetClose) => (asked === undefined ? isReserved : asked.size > 0);
  const unknown = closes.filter(({ asked }) => asked === undefined && isReserved).map(({ requestId }) => requestId);
  const corrected = closes.filter(({ isCorrection }) => isCorrection).map(({ requestId }) => requestId);
  const ids = [
    ...closes.flatMap((close) => [...close.ids, ...(close.asked ?? [])]),
    ...(reserved
      ? unknown.flatMap((id) => [...reserved.of(id).keys()])
      : await readBudgetIds(tx, "budget_holds", unknown)),
    ...(await readBudgetIds(tx, "budget_reaped", corrected)),
  ];
  if (ids.length === 0) return NOTHING;
  const requestIds = closes.filter(mayHave).map(({ requestId }) => requestId);
  const refunds = await readRefunds(tx, closes);
  const sheet = await BudgetSheet.open(tx, { ids, requestIds, corrected }, settings);
  for (const close of closes) sheet.close(close, refunds.get(close.requestId) ?? 0);
  return sheet.write(tx);
}

/** Subtracts refunds from the budgets that were charged, while their windows last. */
export async function refundBudgets(
  tx: RawTransaction,
  requestId: string,
  refunded: number,
  settings: SheetSettings,
): Promise<WrittenBudgets> {
  const ids = await readBudgetIds(tx, "budget_reaped", [requestId]);
  if (ids.length === 0) return NOTHING;
  const sheet = await BudgetSheet.open(tx, { ids, requestIds: [], corrected: [requestId] }, settings);
  sheet.refund(requestId, refunded);
  return sheet.write(tx);
}

/** Returns the budgets that recorded the charge of a request, in ascending id order. */
export async function rememberedBudgets(tx: RawTransaction, requestId: string): Promise<readonly number[]> {
  return (await readBudgetIds(tx, "budget_reaped", [requestId])).sort((a, b) => a - b);
}

const NOTHING: WrittenBudgets = { budgets: [], passed: [] };
const NOTHING_ELSEWHERE: ReadonlyMap<number, number> = new Map();

/** Returns the begin of the window, or the reset in it: what was charged before is not in `used`. */
function countsSince({ window_start: start, created_at: since }: Budget): number {
  return Math.max(start, Number(since));
}

/** With Redis there are rarely any, and a search for each of 500 requests costs a third of their booking. */
async function hasReservations(tx: RawTransaction, reserved: ReservedInMemory | undefined): Promise<boolean> {
  if (reserved) return !reserved.isEmpty;
  return (await tx.rows("select request_id from budget_holds limit 1", [])).length > 0;
}

async function readBudgetIds(
  tx: RawTransaction,
  table: "budget_holds" | "budget_reaped",
  requestIds: readonly string[],
): Promise<number[]> {
  if (requestIds.length === 0) return [];
  const { marks, values } = inList(requestIds);
  const sql = `select distinct budget_id from ${table} where request_id in ${marks}`;
  return (await tx.rows<{ budget_id: number }>(sql, values)).map(({ budget_id }) => budget_id);
}

/** Returns refunds that were booked before their charge: a task may fail that early. */
async function readRefunds(tx: RawTransaction, closes: readonly BudgetClose[]): Promise<ReadonlyMap<string, number>> {
  const requestIds = closes.filter(({ isRemembered }) => isRemembered).map(({ requestId }) => requestId);
  if (requestIds.length === 0) return new Map();
  const { marks, values } = inList(requestIds);
  const sql = `select request_id, quota from ledger where kind = 'refund' and request_id in ${marks}`;
  const rows = await tx.rows<{ request_id: string; quota: number }>(sql, values);
  return new Map(rows.map((row) => [row.request_id, row.quota]));
}

/**
 * Notes the windows that Redis has opened, by budget: their begin in epoch seconds. They last longer than its memory.
 */
export async function noteWindows(
  tx: RawTransaction,
  kind: RawDatabase["kind"],
  opened: ReadonlyMap<number, number>,
): Promise<void> {
  const budgets = await lockBudgets(tx, kind, opened.keys());
  const changed = [...budgets.values()].flatMap((budget) => {
    const state = budget.period === "hours" ? withWindow(budget, opened.get(budget.id) ?? 0) : budget;
    return state === budget ? [] : [{ ...state, revision: budget.revision + 1 }];
  });
  await writeBudgets(tx, kind, changed);
}

interface SheetRows {
  readonly ids: Iterable<number>;
  /** Requests that may have reserved. */
  readonly requestIds: readonly string[];
  /** Requests that may have a recorded charge. */
  readonly corrected: readonly string[];
}

/** A row that the transaction changes. */
type Row = { -readonly [Name in keyof Budget]: Budget[Name] };

/**
 * The reads and writes of one transaction on budgets. It reads rows of a request only after it has locked the budgets.
 */
class BudgetSheet {
  readonly #settings: SheetSettings;
  readonly #budgets: ReadonlyMap<number, Row>;
  readonly #holds: RowsOf<HoldRow>;
  readonly #reaped: RequestRows<ReapedRow>;
  readonly #changed = new Set<number>();
  readonly #passed: [Budget, number][] = [];

  private constructor(
    settings: SheetSettings,
    budgets: ReadonlyMap<number, Row>,
    holds: RowsOf<HoldRow>,
    reaped: RequestRows<ReapedRow>,
  ) {
    this.#settings = settings;
    this.#budgets = budgets;
    this.#holds = holds;
    this.#reaped = reaped;
  }

  static async open(tx: RawTransaction, read: SheetRows, settings: SheetSettings): Promise<BudgetSheet> {
    const { kind, reserved } = settings;
    const budgets = new Map<number, Row>();
    for (const [id, row] of await lockBudgets(tx, kind, read.ids))
      budgets.set(id, { ...row, held: row.held + (reserved?.in(id) ?? 0) });
    const holds = reserved?.rowsIn(tx) ?? (await RequestRows.read(tx, HOLDS, [...new Set(read.requestIds)]));
    const reaped = await RequestRows.read(tx, REAPED, [...new Set(read.corrected)]);
    return new BudgetSheet(settings, budgets, holds, reaped);
  }

  place({ requestId, wanted, amount, wished, held, elsewhere = NOTHING_ELSEWHERE }: Placing): Placed {
    const { now, leaseNow = now } = this.#settings;
    const before = this.#holds.of(requestId);
    if (held && held.ids.size > 0 && before.size === 0) return undefined;
    const asked: Budget[] = [];
    for (const { id } of wanted) {
      const row = this.#budgets.get(id);
      if (row) asked.push(inWindow(row, this.#windowTime(row)));
    }
    const more = (id: number, of: number) => of - (before.get(id)?.amount ?? 0);
    const findExhaustedBudget = (of: number) =>
      asked.find((budget) => {
        const { id, is_hard: isHard, quota_limit: limit, used, held: others } = budget;
        const free = limit - used - others - (elsewhere.get(id) ?? 0);
        return isHard === 1 && more(id, of) > 0 && free < more(id, of) && !isOver(budget, now);
      });
    const granted = calculateGrant({ amount, wished }, (some) => !findExhaustedBudget(some));
    const short = findExhaustedBudget(granted);
    if (short) return { budget: short, endsAt: findRefusalEnd(short, this.#windowTime(short)) };
    for (const [id, row] of before) this.#change(id, now, 0, 0 - row.amount);
    for (const { id } of asked) {
      this.#change(id, now, 0, granted);
      if (granted > 0) this.#open(id);
    }
    const lease = { amount: granted, lease_until: leaseNow + ORPHAN_MS };
    this.#holds.put(
      requestId,
      asked.map(({ id }) => ({ request_id: requestId, budget_id: id, ...lease })),
    );
    return { granted };
  }

  close({ requestId, ids, charged, at, isRemembered }: BudgetClose, refunded: number): void {
    const holds = this.#holds.of(requestId);
    for (const { budget_id: id, amount } of holds.values()) this.#change(id, at, 0, 0 - amount);
    if (holds.size > 0) this.#holds.put(requestId, []);
    if (charged === undefined) return;
    const due = Math.max(0, charged - refunded);
    const before = this.#reaped.of(requestId);
    const counted = new Set(ids);
    for (const [id, row] of before) if (!counted.has(id)) this.#correct(row, 0 - row.charged, at);
    for (const id of counted) {
      const row = before.get(id);
      if (row) this.#correct(row, due - row.charged, at);
      else this.#change(id, at, due, 0);
    }
    if (isRemembered || before.size > 0) this.#remember(requestId, isRemembered ? [...counted] : [], due, at);
  }

  refund(requestId: string, refunded: number): void {
    const { now } = this.#settings;
    for (const row of this.#reaped.of(requestId).values()) this.#correct(row, 0 - Math.min(refunded, row.charged), now);
    this.#reaped.put(requestId, []);
  }

  async write(tx: RawTransaction): Promise<WrittenBudgets> {
    const { kind, reserved } = this.#settings;
    for (const id of this.#changed) {
      const row = this.#budgets.get(id) as Row;
      row.held -= reserved?.in(id) ?? 0;
      row.revision += 1;
    }
    const budgets = [...this.#budgets.values()];
    await writeBudgets(
      tx,
      kind,
      budgets.filter(({ id }) => this.#changed.has(id)),
    );
    await this.#holds.write(tx, kind);
    await this.#reaped.write(tx, kind);
    for (const [budget, percent] of this.#passed)
      await recordBudgetEvent(tx, kind, budget, { type: "budget.threshold", percent, atMs: this.#settings.now });
    return { budgets, passed: this.#passed };
  }

  #remember(requestId: string, ids: readonly number[], charged: number, at: number): void {
    const row = { request_id: requestId, charged, look_at: this.#settings.now + RETENTION_MS };
    const known = charged === 0 ? [] : ids.flatMap((id) => this.#budgets.get(id) ?? []);
    this.#reaped.put(
      requestId,
      // A late charge counts in a window that began after its end.
      known.map(({ id, window_start: start }) => ({ ...row, budget_id: id, closed_at: Math.max(at, start * 1000) })),
    );
  }

  /** Corrects a reaped charge. Windows that have ended are not lowered. */
  #correct({ budget_id: id, closed_at }: ReapedRow, more: number, at: number): void {
    const budget = this.#budgets.get(id);
    if (more < 0 && budget && countsSince(inWindow(budget, at)) * 1000 > closed_at) return;
    this.#change(id, at, more, 0);
  }

  #change(id: number, at: number, used: number, held: number): void {
    const row = this.#budgets.get(id);
    if (!row || (used === 0 && held === 0)) return;
    row.held += held;
    if (used !== 0 || !this.#settings.reserved) this.#changed.add(id);
    // A replica whose clock is ahead opens no window in the future.
    const ended = Math.min(at, this.#settings.now);
    if (used !== 0 && !isOver(row, ended)) this.#use(row, inWindow(row, ended), used);
  }

  /** Returns the time that decides the window of a reservation: for windows that requests open, that of the database. */
  #windowTime({ period }: Pick<Budget, "period">): number {
    const { now, leaseNow = now } = this.#settings;
    return period === "hours" ? leaseNow : now;
  }

  /** Opens the window of a budget of hours with a reservation. */
  #open(id: number): void {
    const row = this.#budgets.get(id);
    if (row?.period !== "hours") return;
    const { window_start: start, used, noted } = inWindow(row, this.#windowTime(row));
    if (start === row.window_start) return;
    Object.assign(row, { window_start: start, used, noted });
    this.#changed.add(id);
  }

  #use(row: Row, { window_start: start, used: before, noted }: Budget, more: number): void {
    row.window_start = start;
    row.used = Math.max(0, Math.min(before + more, MAX_USED));
    row.noted = noted;
    for (const percent of readThresholds(row)) {
      if (percent <= noted || row.used < (row.quota_limit * percent) / 100) continue;
      row.noted = percent;
      this.#passed.push([{ ...row }, percent]);
    }
  }
}

/** Returns requests that have budget reservations in the database although their hold may have ended. */
export async function orphanedHolds(database: RawTransaction, leaseTime: LeaseTime, limit: number): Promise<string[]> {
  const ended = leaseTime.at();
  const sql = `select distinct request_id from budget_holds b where lease_until <= ${ended.sql} and not exists (select 1 from holds h where h.request_id = b.request_id) order by request_id limit ${limit}`;
  return (await database.rows<{ request_id: string }>(sql, ended.values)).map(({ request_id }) => request_id);
}

/** Deletes records that can no longer be corrected or refunded. Those of deposits are deleted when these are closed. */
export async function forgetFinal(database: RawTransaction, now: number): Promise<void> {
  const deposit = "select 1 from ledger where ledger.request_id = budget_reaped.request_id and ledger.kind = 'deposit'";
  const old = `delete from budget_reaped where look_at <= ? and closed_at <= ? and not exists (${deposit})`;
  await database.run(old, [now, now - RETENTION_MS]);
}
