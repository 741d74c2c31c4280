import { PassThrough } from "node:stream";
import { createDatabase, eachDatabase, freshRedis } from "@fairway/testkit/databases";
import { describe } from "vitest";
import { openStoreKit, type StoreKit } from "../../../test/kit/store-kit.ts";
import { createLog } from "../../observability/log.ts";
import type { RawDatabase } from "../../storage/engines/raw.ts";
import { isRefusal, type Hold, type Ledger, type Settlement } from "../ledger/ledger.ts";
import { selectShard } from "../../redis/keys.ts";
import { newPrefix, openRedisHarness, type RedisHarness } from "../ledger/redis/test-harness.contract.ts";
import type { OnOutage } from "../reservations/live-reservations.ts";
import { createSqlLedger } from "../ledger/sql/sql-ledger.ts";
import type { TestClock } from "../ledger/test-harness.contract.ts";
import { ReservedInMemory } from "./sql/memory.ts";
import { isOverBudget, type Budget, type BudgetHold, type BudgetRefusal, type BudgetSubjects } from "./budget.ts";
import { createBudgets, type BudgetOutage, type Budgets } from "./budgets.ts";
import { quota, type Quota } from "../money/quota.ts";

export const NOON = Date.parse("2026-11-21T12:00:00Z");
export const ask: BudgetSubjects = { tokenId: 3, userId: 7, group: "vip", model: "m", channelId: 5 };
const BALANCE = 10 ** 15;
/** Most values of a template in these tests. */
export const MOST_VALUES = 8;

/** A process with its budgets and the ledger that books their charges. */
export interface Replica {
  readonly budgets: Budgets;
  readonly ledger: Ledger;
  /** Set if balances are in Redis. */
  readonly redis: RedisHarness | undefined;
}

/** Budgets of several replicas on one database. */
export interface BudgetHarness {
  readonly raw: RawDatabase;
  /** Reservations of requests, if they are not in the database. */
  readonly reserved: ReservedInMemory | undefined;
  readonly replicas: readonly Replica[];
  /** Returns an id that is unique to the test, because a ledger remembers ended requests. */
  buildRequestId(request: string): string;
  now: number;
  /** While true every statement of the replicas fails. */
  isAway: boolean;
  /** Database calls of the replicas. */
  readonly calls: { transactions: number; others: number };
  readonly reported: [string, number][];
  readonly outages: BudgetOutage[];
  add(scope: string, subject: string, limit: number, more?: object): Promise<void>;
  /** Resolves once all charges are booked. */
  state(scope: string, subject?: string): Promise<{ readonly used: number; readonly held: number } | undefined>;
  flush(): Promise<void>;
  /** Empties all tables and sets the clock to noon. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

interface Live {
  /** URL of a Redis for live balances; without it, balances are in the database. */
  readonly redisUrl?: string;
  readonly onOutage?: OnOutage;
  /** Default 0: after a data loss, no process waits for the others. */
  readonly barrierMs?: number;
}

export async function openBudgetHarness(url: string, replicas = 1, live: Live = {}): Promise<BudgetHarness> {
  const kits: StoreKit[] = [];
  // SQLite has one process, and one connection.
  const connections = url.startsWith("sqlite:") ? 1 : replicas;
  for (let at = 0; at < connections; at += 1) kits.push(await openStoreKit(url));
  const [kit] = kits as [StoreKit];
  const { raw } = kit.database;
  const calls = { transactions: 0, others: 0 };
  const all: Replica[] = [];
  const prefix = newPrefix();
  let tests = 0;
  // One process: its ledgers share what they have reserved.
  const reserved = raw.kind === "sqlite" ? new ReservedInMemory() : undefined;
  const harness: BudgetHarness = {
    raw,
    reserved,
    replicas: all,
    buildRequestId: (request) => `${request}-${tests}`,
    now: NOON,
    isAway: false,
    calls,
    reported: [],
    outages: [],
    async add(scope, subject, limit, more = {}) {
      const row = { scope, subject, period: "day", time_zone: "UTC", quota_limit: limit, soft_percent: 0, is_hard: 1 };
      const values = { ...row, window_start: 0, ...more };
      await kit.database.db.insertInto("budgets").values(values).execute();
      for (const { budgets } of all) await budgets.reload();
    },
    async state(scope, subject) {
      await harness.flush();
      const sql = "select id, subject, used, held from budgets where scope = ?";
      const rows = await raw.rows<Pick<Budget, "id" | "subject" | "used" | "held">>(sql, [scope]);
      const row = rows.find((one) => subject === undefined || one.subject === subject);
      const elsewhere = await (all[0] as Replica).budgets.heldElsewhere();
      return row && { used: row.used, held: row.held + (elsewhere.get(row.id) ?? 0) };
    },
    async flush() {
      for (const { budgets, ledger } of all) {
        await budgets.idle(10_000);
        await ledger.flush();
      }
      // A settling process may have booked charges of other processes, so updates that follow from them may be pending
      // there.
      for (const { budgets } of all) await budgets.idle(10_000);
    },
    async reset() {
      await harness.flush();
      tests += 1;
      for (const table of ["events", "budgets", "budget_holds", "budget_reaped", "holds", "ledger", "tokens", "users"])
        await raw.run(`delete from ${table}`, []);
      harness.now = Number.MAX_SAFE_INTEGER;
      while (reserved?.isEmpty === false) await all[0]?.budgets.reap();
      await addAccounts(kit);
      for (const { budgets, redis } of all) {
        await budgets.reload();
        if (redis) await forget(redis);
      }
      harness.now = NOON;
      harness.isAway = false;
      harness.reported.length = 0;
      harness.outages.length = 0;
    },
    async close() {
      for (const { redis } of all) await redis?.close();
      for (const one of kits) await one.database.close();
    },
  };
  const clock = { now: () => harness.now, advance: (ms: number) => void (harness.now += ms) };
  await addAccounts(kit);
  for (let at = 0; at < replicas; at += 1)
    all.push(await openReplica(url, { harness, raw: (kits[at] ?? kit).database.raw, prefix, clock, live }));
  return harness;
}

interface ReplicaParts {
  readonly harness: BudgetHarness;
  readonly raw: RawDatabase;
  readonly prefix: string;
  readonly clock: TestClock;
  readonly live: Live;
}

async function openReplica(url: string, { harness, raw, prefix, clock, live }: ReplicaParts): Promise<Replica> {
  const { redisUrl, onOutage: mode = "deny", barrierMs = 0 } = live;
  const log = createLog({ level: "off", format: "text", out: new PassThrough() });
  const database = watchedBy(harness, raw);
  const wrap = (other: RawDatabase) => watchedBy(harness, other);
  const onThreshold = ({ scope }: Budget, percent: number) => void harness.reported.push([scope, percent]);
  const part = { onThreshold, onOutage: mode, barrierMs };
  const redis =
    redisUrl === undefined ? undefined : await openRedisHarness(url, { redisUrl, prefix, clock, wrap, part });
  const { reserved } = harness;
  const ledger = redis?.ledger ?? createSqlLedger({ database, clock, leaseClock: clock, log, onThreshold, reserved });
  const onOutage = (meaning: BudgetOutage) => void harness.outages.push(meaning);
  const settings = { database, reservations: ledger.budgets, log, clock, onOutage, mostValues: MOST_VALUES };
  return { ledger, redis, budgets: createBudgets(settings) };
}

/** Returns the real database, which counts calls and fails while a test sets `isAway`. */
function watchedBy(harness: BudgetHarness, database: RawDatabase): RawDatabase {
  const { calls } = harness;
  const asked = async <T>(what: keyof typeof calls, work: () => Promise<T>): Promise<T> => {
    calls[what] += 1;
    if (harness.isAway) throw new Error("the database is away");
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

async function addAccounts({ database: { raw } }: StoreKit): Promise<void> {
  for (const id of [7, 8, 9])
    await raw.run(
      `insert into users (id, username, username_key, password, display_name, role, status, quota, "group", aff_code, created_at) values (?, ?, ?, '', '', 1, 1, ?, 'default', ?, 0)`,
      [id, `user${id}`, `user${id}`, BALANCE, `aff${id}`],
    );
}

/** Removes the accounts of an earlier test. */
async function forget({ redis }: RedisHarness): Promise<void> {
  const { keys } = redis;
  const names = ["state", "holds", "leases"] as const;
  const calls = names.map((name) => ({ command: "del", args: [keys.budgets[name]] }));
  const users = [7, 8, 9].map((id) => ({
    command: "del",
    args: [keys.user(id), ...[keys.holds, keys.leases, keys.seen].map((of) => of(selectShard(id)))],
  }));
  await redis.send([...calls, ...users], 2_000);
}

interface OpenHarness {
  (replicas?: number): Promise<BudgetHarness>;
  readonly hasRedis: boolean;
  readonly kind: "sqlite" | "mariadb" | "postgres";
}

/** Runs the same suite with balances in each database, and with live balances in Redis. */
export function eachLedger(name: string, suite: (open: OpenHarness) => void): void {
  eachDatabase(name, (open) => {
    const openSql = async (replicas?: number) => openBudgetHarness(await open(), replicas);
    suite(Object.assign(openSql, { hasRedis: false, kind: open.kind }));
  });
  describe.each(["mariadb", "postgres"] as const)(`${name} on %s with Redis`, (kind) => {
    const openLive = async (replicas?: number) =>
      openBudgetHarness(await createDatabase(kind), replicas, { redisUrl: (await freshRedis()).url });
    suite(Object.assign(openLive, { hasRedis: true, kind }));
  });
}

/** A request between its reservation and its charge, like the relay has it. */
export class Spending {
  readonly #id: string;
  readonly #replica: Replica;
  readonly #harness: BudgetHarness;
  #subjects: BudgetSubjects;
  #hold: Hold | undefined;
  held: BudgetHold | undefined;

  constructor(harness: BudgetHarness, id: string, subjects: BudgetSubjects = ask, replica = 0) {
    this.#harness = harness;
    this.#replica = harness.replicas[replica] as Replica;
    this.#id = harness.buildRequestId(id);
    this.#subjects = subjects;
  }

  get channelId(): number {
    return this.#subjects.channelId;
  }

  /** Returns the refusal, if any. */
  async reserve(amount: number, channelId = this.channelId, wished?: number): Promise<BudgetRefusal | undefined> {
    const subjects = { ...this.#subjects, channelId };
    const use = { requestId: this.#id, subjects, held: this.held };
    const holding = this.#hold ? undefined : this.#reserveBalance(amount);
    const asked = this.#replica.budgets.reserve(use, quota(amount), wished as Quota | undefined);
    const [placed] = await Promise.allSettled([asked, holding]);
    if (placed.status === "rejected") throw placed.reason;
    const answer = placed.value;
    if (isOverBudget(answer)) return answer;
    this.#subjects = subjects;
    this.held = answer;
    return undefined;
  }

  async #reserveBalance(amount: number): Promise<void> {
    const { userId } = this.#subjects;
    const request = { requestId: this.#id, userId, tokenId: 0, amount: quota(amount), isCharged: true };
    const hold = await this.#replica.ledger.hold(request);
    if (isRefusal(hold)) throw new Error("a balance of a test is used up");
    this.#hold = hold;
  }

  /** Extends the reservation; returns false if that is refused. */
  async extend(amount: number): Promise<boolean> {
    const use = { requestId: this.#id, subjects: this.#subjects, held: this.held };
    const answer = await this.#replica.budgets.extend(use, quota(amount));
    if (isOverBudget(answer)) return false;
    this.held = answer;
    return true;
  }

  /** Reports the amount to charge if the process dies now. */
  async renew(seen?: number): Promise<void> {
    if (this.#hold) await this.#replica.ledger.renew(this.#hold, this.#settlement(seen ?? 0));
  }

  async settle(charged: number, channelId = this.channelId, isRefundable = false): Promise<void> {
    this.#subjects = { ...this.#subjects, channelId };
    if (!this.#hold) await this.#reserveBalance(0);
    await this.#replica.ledger.settle({ ...this.#settlement(charged), isRefundable });
  }

  /** Turns the reservation into a deposit. */
  async deposit(amount: number): Promise<void> {
    const { at, budgets } = this.#settlement(amount);
    if (this.#hold)
      await this.#replica.ledger.deposit(this.#hold, { amount: quota(amount), at, ...(budgets && { budgets }) });
  }

  closeDeposit(charged: number): Promise<boolean> {
    const { requestId, userId, tokenId } = this.#hold as Hold;
    const settlements = [{ quota: quota(charged), items: 1, channelId: this.channelId }];
    return this.#replica.ledger.closeDeposit({ requestId, userId, tokenId, at: this.#harness.now, settlements });
  }

  async release(): Promise<void> {
    if (this.#hold) await this.#replica.ledger.release(this.#hold);
    this.#replica.budgets.release({ requestId: this.#id, subjects: this.#subjects, held: this.held });
  }

  #settlement(charged: number): Settlement {
    const { channelId } = this.#subjects;
    const counting = this.#replica.budgets.counting(this.#subjects);
    return { hold: this.#hold as Hold, quota: quota(charged), channelId, at: this.#harness.now, ...counting };
  }
}
