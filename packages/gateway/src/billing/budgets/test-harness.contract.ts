import { PassThrough } from "node:stream";
import { openStoreKit, type StoreKit } from "../../../test/kit/store-kit.ts";
import { createLog } from "../../observability/log.ts";
import type { RawDatabase } from "../../storage/engines/raw.ts";
import { isOverBudget, type Budget, type BudgetHold, type BudgetRefusal, type BudgetSubjects } from "./budget.ts";
import { createBudgets, type BudgetOutage, type Budgets } from "./budgets.ts";
import { quota } from "../money/quota.ts";

export const NOON = Date.parse("2026-11-21T12:00:00Z");
export const ask: BudgetSubjects = { tokenId: 3, userId: 7, group: "vip", model: "m", channelId: 5 };

/** Budgets as replicas see them, on one database. */
export interface BudgetRig {
  readonly raw: RawDatabase;
  readonly replicas: readonly Budgets[];
  readonly budgets: Budgets;
  now: number;
  /** While true every statement of the replicas fails. */
  isAway: boolean;
  /** Database calls of the replicas. */
  readonly calls: { transactions: number; others: number };
  readonly reported: [string, number][];
  readonly outages: BudgetOutage[];
  add(scope: string, subject: string, limit: number, more?: object): Promise<void>;
  state(scope: string, subject?: string): Promise<{ readonly used: number; readonly held: number } | undefined>;
  /** A row of the ledger. */
  book(requestId: string, charged: number, more?: { readonly kind?: string; readonly detail?: string }): Promise<void>;
  /** Empty tables, at noon. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

export async function openBudgetRig(url: string, replicas = 1): Promise<BudgetRig> {
  const kits: StoreKit[] = [];
  // SQLite has one process, and one connection.
  const connections = url.startsWith("sqlite:") ? 1 : replicas;
  for (let at = 0; at < connections; at += 1) kits.push(await openStoreKit(url));
  const [kit] = kits as [StoreKit];
  const { raw } = kit.database;
  const calls = { transactions: 0, others: 0 };
  const log = createLog({ level: "off", format: "text", out: new PassThrough() });
  const rig: BudgetRig = {
    raw,
    now: NOON,
    isAway: false,
    calls,
    reported: [],
    outages: [],
    replicas: Array.from({ length: replicas }, (_, at) =>
      createBudgets({
        database: watched((kits[at] ?? kit).database.raw),
        clock: { now: () => rig.now },
        log,
        onThreshold: ({ scope }, percent) => void rig.reported.push([scope, percent]),
        onOutage: (meaning) => void rig.outages.push(meaning),
      }),
    ),
    get budgets() {
      return rig.replicas[0] as Budgets;
    },
    async add(scope, subject, limit, more = {}) {
      const row = { scope, subject, period: "day", time_zone: "UTC", quota_limit: limit, soft_percent: 0, is_hard: 1 };
      const values = { ...row, window_start: 0, ...more };
      await kit.database.db.insertInto("budgets").values(values).execute();
      for (const replica of rig.replicas) await replica.reload();
    },
    async state(scope, subject) {
      const sql = "select subject, used, held from budgets where scope = ?";
      const rows = await raw.rows<Pick<Budget, "subject" | "used" | "held">>(sql, [scope]);
      const row = rows.find((one) => subject === undefined || one.subject === subject);
      return row && { used: row.used, held: row.held };
    },
    async book(requestId, charged, { kind = "consume", detail = "" } = {}) {
      const row = { user_id: 7, token_id: 3, channel_id: 5, created_at: rig.now, request_id: requestId, kind, detail };
      await kit.database.db
        .insertInto("ledger")
        .values({ ...row, quota: 0 - charged })
        .execute();
    },
    async reset() {
      for (const table of ["budgets", "budget_holds", "budget_reaped", "ledger"])
        await raw.run(`delete from ${table}`, []);
      for (const replica of rig.replicas) await replica.reload();
      rig.now = NOON;
      rig.isAway = false;
      rig.reported.length = 0;
      rig.outages.length = 0;
    },
    async close() {
      for (const one of kits) await one.database.close();
    },
  };

  /** The real database, counted, and away while a test says so. */
  function watched(database: RawDatabase): RawDatabase {
    const asked = async <T>(what: keyof typeof calls, work: () => Promise<T>): Promise<T> => {
      calls[what] += 1;
      if (rig.isAway) throw new Error("the database is away");
      return work();
    };
    return {
      kind: database.kind,
      run: (sql, values) => asked("others", () => database.run(sql, values)),
      rows: <Row>(sql: string, values: Parameters<RawDatabase["rows"]>[1]) =>
        asked("others", () => database.rows<Row>(sql, values)),
      transaction: (work) => asked("transactions", () => database.transaction(work)),
    };
  }

  return rig;
}

/** A request between its reservation and its charge, as the relay keeps it. */
export class Spending {
  readonly #id: string;
  readonly #budgets: Budgets;
  #subjects: BudgetSubjects;
  held: BudgetHold | undefined;

  constructor(budgets: Budgets, id: string, subjects: BudgetSubjects = ask) {
    this.#budgets = budgets;
    this.#id = id;
    this.#subjects = subjects;
  }

  get channelId(): number {
    return this.#subjects.channelId;
  }

  /** Answers the refusal. */
  async reserve(amount: number, channelId = this.channelId): Promise<BudgetRefusal | undefined> {
    const subjects = { ...this.#subjects, channelId };
    const answer = await this.#budgets.reserve({ requestId: this.#id, subjects, held: this.held }, quota(amount));
    if (isOverBudget(answer)) return answer;
    this.#subjects = subjects;
    this.held = answer;
    return undefined;
  }

  /** False when it is refused. */
  async extend(amount: number): Promise<boolean> {
    const use = { requestId: this.#id, subjects: this.#subjects, held: this.held };
    const answer = await this.#budgets.extend(use, quota(amount));
    if (isOverBudget(answer)) return false;
    this.held = answer;
    return true;
  }

  renew(): Promise<void> {
    return this.#budgets.renew(this.#id);
  }

  settle(charged: number, channelId = this.channelId, isRefundable = false): Promise<void> {
    const subjects = { ...this.#subjects, channelId };
    return this.#budgets.settle({ requestId: this.#id, subjects, held: this.held }, quota(charged), isRefundable);
  }
}
