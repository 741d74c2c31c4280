import type { RawDatabase, RawTransaction } from "../storage/raw.ts";
import { forUpdate, inList } from "./sql-text.ts";

/**
 * Every transaction that moves money locks rows in this order: users, tokens, channels, each by rising id. The lock on
 * the user is what serialises everything that happens to one balance, holds included.
 */

export interface UserBalance {
  readonly id: number;
  readonly quota: number;
  readonly held: number;
}

export interface TokenBalance {
  readonly id: number;
  readonly remain_quota: number;
  readonly held: number;
  readonly unlimited_quota: number;
}

export async function lockUsers(
  tx: RawTransaction,
  kind: RawDatabase["kind"],
  ids: Iterable<number>,
): Promise<Map<number, UserBalance>> {
  const { marks, values } = inList([...new Set(ids)]);
  const sql = `select id, quota, held from users where id in ${marks} order by id${forUpdate(kind)}`;
  return byId(await tx.rows<UserBalance>(sql, values));
}

/** Token 0 is the playground's and has no row. */
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

/** Sums per id, for one update per row. */
export class Sums {
  readonly #sums = new Map<number, number>();

  add(id: number, amount: number): void {
    if (amount !== 0) this.#sums.set(id, (this.#sums.get(id) ?? 0) + amount);
  }

  of(id: number): number {
    return this.#sums.get(id) ?? 0;
  }

  keys(): Iterable<number> {
    return this.#sums.keys();
  }

  /** By rising id, the order of locks. */
  sorted(): [id: number, amount: number][] {
    return [...this.#sums].sort(([a], [b]) => a - b);
  }
}
