import type { RawDatabase, RawTransaction, SqlValue } from "../../../storage/engines/raw.ts";
import type { LeaseTime } from "../../reservations/lease-time.ts";
import { forUpdate, inList, padded } from "../../../storage/statements.ts";

/**
 * Every transaction that changes balances locks rows in this order: users, tokens, channels, each in ascending id
 * order. The lock on the user row serializes all changes of one balance, holds included.
 */

export interface UserBalance {
  readonly id: number;
  readonly quota: number;
  readonly held: number;
  /** Below it the owner is reminded; null = below the operator's. */
  readonly balance_limit: number | null;
}

export interface TokenBalance {
  readonly id: number;
  readonly remain_quota: number;
  readonly held: number;
  readonly unlimited_quota: number;
}

/** Locks the rows of users until the transaction ends and returns their balances by id; unknown ids are missing. */
export async function lockUsers(
  tx: RawTransaction,
  kind: RawDatabase["kind"],
  ids: Iterable<number>,
): Promise<Map<number, UserBalance>> {
  const { marks, values } = inList([...new Set(ids)]);
  const sql = `select id, quota, held, balance_limit from users where id in ${marks} order by id${forUpdate(kind)}`;
  return byId(await tx.rows<UserBalance>(sql, values));
}

/**
 * Like `lockUsers`, with the time that decides the age of leases, which the locking statement also returns; 0 without a
 * user.
 */
export async function lockUsersAt(
  tx: RawTransaction,
  kind: RawDatabase["kind"],
  ids: Iterable<number>,
  leaseTime: LeaseTime,
): Promise<{ readonly users: Map<number, UserBalance>; readonly now: number }> {
  const { marks, values } = inList([...new Set(ids)]);
  const time = leaseTime.at();
  const sql = `select id, quota, held, balance_limit, ${time.sql} as asked_at from users where id in ${marks} order by id${forUpdate(kind)}`;
  const rows = await tx.rows<UserBalance & { readonly asked_at: number }>(sql, [...time.values, ...values]);
  return { users: byId(rows), now: Number(rows[0]?.asked_at ?? 0) };
}

/** Locks the rows of tokens. Token 0 is the playground and has no row. */
export async function lockTokens(
  tx: RawTransaction,
  kind: RawDatabase["kind"],
  ids: Iterable<number>,
): Promise<Map<number, TokenBalance>> {
  const wanted = [...new Set(ids)].filter((id) => id !== 0);
  if (wanted.length === 0) return new Map();
  const { marks, values } = inList(wanted);
  const sql = `select id, remain_quota, held, unlimited_quota from tokens where id in ${marks} order by id${forUpdate(kind)}`;
  return byId(await tx.rows<TokenBalance>(sql, values));
}

function byId<Row extends { readonly id: number }>(rows: readonly Row[]): Map<number, Row> {
  return new Map(rows.map((row) => [row.id, row]));
}

interface Target {
  readonly table: "users" | "tokens" | "channels";
  /** Columns with the SQL of their new value, in which `?` is the amount for the row. */
  readonly columns: Readonly<Record<string, string>>;
  /** Rows per statement on database servers; SQLite uses one statement per row. */
  readonly atOnce: number;
}

const USERS = {
  table: "users",
  columns: {
    quota: "quota + ?",
    held: "held + ?",
    used_quota: "used_quota + ?",
    request_count: "request_count + ?",
  },
  atOnce: 64,
} as const satisfies Target;

const TOKENS = {
  table: "tokens",
  columns: {
    remain_quota: "case when unlimited_quota = 1 then remain_quota else remain_quota + ? end",
    held: "held + ?",
    used_quota: "used_quota + ?",
    // Never decreases: replicas settle in any order.
    accessed_time: "case when accessed_time > ? then accessed_time else ? end",
  },
  atOnce: 64,
} as const satisfies Target;

/** Uses one statement per row, because a statement over several rows may lock them in any order. */
const CHANNELS = {
  table: "channels",
  columns: { used_quota: "used_quota + ?" },
  atOnce: 1,
} as const satisfies Target;

const USERS_HELD = { ...USERS, columns: { held: USERS.columns.held } } as const;
const TOKENS_HELD = { ...TOKENS, columns: { held: TOKENS.columns.held } } as const;

/** Sums amounts per row and column, so that each row is updated once. */
class Changes<Column extends string> {
  readonly #target: Target;
  readonly #rows = new Map<number, Partial<Record<Column, number>>>();

  constructor(target: Target & { readonly columns: Readonly<Record<Column, string>> }) {
    this.#target = target;
  }

  add(id: number, column: Column, amount: number): void {
    this.#row(id)[column] = this.of(id, column) + amount;
  }

  atLeast(id: number, column: Column, value: number): void {
    this.#row(id)[column] = Math.max(this.of(id, column), value);
  }

  of(id: number, column: Column): number {
    return this.#rows.get(id)?.[column] ?? 0;
  }

  ids(): number[] {
    return [...this.#rows.keys()].sort((a, b) => a - b);
  }

  async write(tx: RawTransaction, kind: RawDatabase["kind"]): Promise<void> {
    const ids = this.ids();
    const size = kind === "sqlite" ? 1 : this.#target.atOnce;
    for (let from = 0; from < ids.length; from += size) await this.#update(tx, padded(ids.slice(from, from + size)));
  }

  #row(id: number): Partial<Record<Column, number>> {
    const known = this.#rows.get(id);
    if (known) return known;
    const row: Partial<Record<Column, number>> = {};
    this.#rows.set(id, row);
    return row;
  }

  #update(tx: RawTransaction, ids: readonly number[]): Promise<number> {
    const values: SqlValue[] = [];
    for (const [column, value] of Object.entries(this.#target.columns)) {
      const marks = value.split("?").length - 1;
      for (const id of ids) {
        const amount = this.of(id, column as Column);
        values.push(id, ...Array.from({ length: marks }, () => amount));
      }
    }
    return tx.run(buildUpdateSql(this.#target, ids.length), [...values, ...ids]);
  }
}

const texts = new Map<Target, Map<number, string>>();

function buildUpdateSql(target: Target, rows: number): string {
  const ofTarget = texts.get(target) ?? new Map<number, string>();
  texts.set(target, ofTarget);
  const known = ofTarget.get(rows);
  if (known) return known;
  const sets = Object.entries(target.columns).map(([column, value]) => {
    const cases = Array.from({ length: rows }, () => `when ? then ${value}`).join(" ");
    return `${column} = case id ${cases} else ${column} end`;
  });
  const text = `update ${target.table} set ${sets.join(", ")} where id in (${Array.from({ length: rows }, () => "?").join(", ")})`;
  ofTarget.set(rows, text);
  return text;
}

/** Collects changes of users, one statement for all of them. */
export function userChanges() {
  return new Changes(USERS);
}

/** Collects changes of tokens, one statement for all of them. */
export function tokenChanges() {
  return new Changes(TOKENS);
}

/** Collects changes of channels, one statement for all of them. */
export function channelChanges() {
  return new Changes(CHANNELS);
}

/** Collects changes of the held amounts of users. */
export function heldByUsers() {
  return new Changes(USERS_HELD);
}

/** Collects changes of the held amounts of tokens. */
export function heldByTokens() {
  return new Changes(TOKENS_HELD);
}
