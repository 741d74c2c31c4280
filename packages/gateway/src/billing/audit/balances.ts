import type { RawDatabase, RawTransaction } from "../../storage/engines/raw.ts";
import type { Difference } from "./difference.ts";
import { nextUsers } from "./sums.ts";
import { lockUsers } from "../ledger/booking/accounts.ts";

interface BalanceRow {
  readonly id: number;
  readonly quota: number;
  readonly moved: number;
}

interface HeldRow {
  readonly id: number;
  readonly user_id: number;
  readonly found: number;
  readonly expected: number;
}

/** Tables with a held amount, and the column by which a reservation refers to them. */
const HOLDERS = [
  { name: "user", table: "users", owner: "id", column: "user_id" },
  { name: "token", table: "tokens", owner: "user_id", column: "token_id" },
] as const;

/**
 * Compares database balances with all ledger rows, and held amounts with the open reservations. A repair sets both to
 * the sum of their rows, because balances never change without a row.
 */
export async function checkBalances(database: RawDatabase, isRepairing: boolean): Promise<Difference[]> {
  return [...(await checkMoved(database, isRepairing)), ...(await checkHeld(database, isRepairing))];
}

async function checkMoved(database: RawDatabase, isRepairing: boolean): Promise<Difference[]> {
  const differences: Difference[] = [];
  for await (const [after, last] of nextUsers(database)) {
    const moved = `select user_id, sum(quota) as quota from ledger where user_id > ? and user_id <= ? group by user_id`;
    const sql = `select users.id, users.quota, coalesce(movements.quota, 0) as moved
      from users left join (${moved}) movements on movements.user_id = users.id
      where users.id > ? and users.id <= ? order by users.id`;
    for (const row of await database.rows<BalanceRow>(sql, [after, last, after, last])) {
      const expected = Number(row.moved);
      if (row.quota === expected) continue;
      differences.push({ what: "balance", account: `user ${row.id}`, found: row.quota, expected });
      if (isRepairing) await database.transaction((tx) => recompute(tx, database.kind, row.id));
    }
  }
  return differences;
}

async function recompute(tx: RawTransaction, kind: RawDatabase["kind"], id: number): Promise<void> {
  await lockUsers(tx, kind, [id]);
  const sum = "select coalesce(sum(quota), 0) from ledger where user_id = ?";
  await tx.run(`update users set quota = (${sum}) where id = ?`, [id, id]);
}

async function checkHeld(database: RawDatabase, isRepairing: boolean): Promise<Difference[]> {
  const differences: Difference[] = [];
  for (const { name, table, owner, column } of HOLDERS) {
    const open = `select ${column} as id, sum(amount) as amount from holds group by ${column}`;
    const sql = `select ${table}.id, ${table}.${owner} as user_id, ${table}.held as found, coalesce(open.amount, 0) as expected
      from ${table} left join (${open}) open on open.id = ${table}.id
      where ${table}.held <> coalesce(open.amount, 0) order by ${table}.id`;
    for (const row of await database.rows<HeldRow>(sql, [])) {
      const [found, expected] = [row.found, Number(row.expected)];
      differences.push({ what: "reservations", account: `${name} ${row.id}`, found, expected });
      if (!isRepairing) continue;
      const sum = `select coalesce(sum(amount), 0) from holds where ${column} = ?`;
      await database.transaction(async (tx) => {
        await lockUsers(tx, database.kind, [row.user_id]);
        await tx.run(`update ${table} set held = (${sum}) where id = ?`, [row.id, row.id]);
      });
    }
  }
  return differences;
}
