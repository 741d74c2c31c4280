import type { Clock } from "../../lib/clock.ts";
import type { RawDatabase } from "../../storage/engines/raw.ts";
import type { BudgetAnswer, BudgetOperation } from "./batch.ts";
import type { HoldRow, ReapedRow } from "./rows.ts";
import { REAPED, REAPED_UNUSED } from "../ledger/sql/booking.ts";
import { inList } from "../../storage/statements.ts";

export interface BudgetReaperDeps {
  readonly database: RawDatabase;
  readonly clock: Clock;
  readonly write: (operation: BudgetOperation) => Promise<BudgetAnswer>;
}

/** The ledger's record of a request. */
interface Booked {
  readonly charged: number;
  /** Nothing will be added to it. */
  readonly isFinal: boolean;
}

/** A reservation without a ledger row is released after this time; a later charge still counts. */
const GIVEN_UP_MS = 600_000;
/** After a gap this long between polls, it is unknown since when the database answers. */
const GAP_MS = 120_000;
const AT_ONCE = 200;

/**
 * Closes what died with its process. Charges may be on their way for as long as Redis or the disk of a replica is away:
 * what the ledger may still add to is remembered, and looked at again.
 */
export class BudgetReaper {
  readonly #deps: BudgetReaperDeps;
  #lookedAt = -Infinity;
  #awakeSince = 0;

  constructor(deps: BudgetReaperDeps) {
    this.#deps = deps;
  }

  /** Answers how many requests were closed. */
  async run(): Promise<number> {
    const now = this.#deps.clock.now();
    const reaped = await this.#each("budget_holds", "lease_until", now, (page) => this.#reap(page, now));
    await this.#each("budget_reaped", "look_at", now, (page) => this.#recount(page));
    return reaped;
  }

  /** Every request that is due by `column`, in pages: many waiting requests do not block the others. */
  async #each(
    table: "budget_holds" | "budget_reaped",
    column: "lease_until" | "look_at",
    now: number,
    work: (requestIds: readonly string[]) => Promise<number>,
  ): Promise<number> {
    const sql = `select distinct request_id, ${column} as due from ${table} where ${column} <= ? and (${column} > ? or (${column} = ? and request_id > ?)) order by ${column}, request_id limit ${AT_ONCE}`;
    let done = 0;
    for (let [at, id] = [-1, ""]; ;) {
      const page = await this.#deps.database.rows<{ request_id: string; due: number }>(sql, [now, at, at, id]);
      this.#looked(now);
      if (page.length > 0) done += await work(page.map(({ request_id }) => request_id));
      const last = page[AT_ONCE - 1];
      if (!last) return done;
      [at, id] = [last.due, last.request_id];
    }
  }

  #looked(now: number): void {
    const isClockBack = now < this.#lookedAt;
    if (isClockBack || now - this.#lookedAt > GAP_MS) this.#awakeSince = now;
    this.#lookedAt = now;
  }

  async #reap(requestIds: readonly string[], now: number): Promise<number> {
    const { database, write } = this.#deps;
    const { marks, values } = inList(requestIds);
    const sql = `select request_id, budget_id, lease_until from budget_holds where request_id in ${marks}`;
    const rows = await database.rows<Pick<HoldRow, "request_id" | "budget_id" | "lease_until">>(sql, values);
    const booked = await bookedOf(database, requestIds);
    const givenUpBefore = this.#awakeSince <= now - GIVEN_UP_MS ? now - GIVEN_UP_MS : -Infinity;
    const closed = [...Map.groupBy(rows, (row) => row.request_id)].map(async ([requestId, holds]) => {
      const known = booked.get(requestId);
      if (!known && holds.some((hold) => hold.lease_until > givenUpBefore)) return false;
      const ids = holds.map((hold) => hold.budget_id);
      const { charged, isFinal } = known ?? { charged: 0, isFinal: false };
      return write({ kind: "reap", requestId, ids, charged, isFinal });
    });
    return (await Promise.all(closed)).filter((isClosed) => isClosed === true).length;
  }

  async #recount(requestIds: readonly string[]): Promise<number> {
    const { database, write } = this.#deps;
    const { marks, values } = inList(requestIds);
    const sql = `select request_id, budget_id from budget_reaped where request_id in ${marks}`;
    const rows = await database.rows<Pick<ReapedRow, "request_id" | "budget_id">>(sql, values);
    const booked = await bookedOf(database, requestIds);
    const reads = [...Map.groupBy(rows, (row) => row.request_id)].map(([requestId, some]) => {
      const { charged, isFinal = false } = booked.get(requestId) ?? { charged: undefined };
      return write({ kind: "recount", requestId, ids: some.map((row) => row.budget_id), charged, isFinal });
    });
    return (await Promise.all(reads)).length;
  }
}

interface LedgerRow {
  readonly request_id: string;
  readonly kind: string;
  readonly quota: number;
  readonly detail: string;
}

/** A charge of the ledger's own reaper may be corrected once; every other is the last word. */
async function bookedOf(database: RawDatabase, requestIds: readonly string[]): Promise<Map<string, Booked>> {
  const { marks, values } = inList(requestIds);
  const sql = `select request_id, kind, quota, detail from ledger where request_id in ${marks} and kind in ('consume', 'correct', 'refund')`;
  const rows = Map.groupBy(await database.rows<LedgerRow>(sql, values), (row) => row.request_id);
  return new Map(
    [...rows].map(([requestId, some]) => {
      const charges = some.filter(({ kind }) => kind !== "refund");
      const isReaped = charges.every(({ detail }) => detail === REAPED || detail === REAPED_UNUSED);
      const charged = some.reduce((sum, { quota }) => sum - quota, 0);
      return [requestId, { charged, isFinal: !isReaped || charges.length > 1 }];
    }),
  );
}
