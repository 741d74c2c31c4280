import type { RawDatabase } from "../../storage/engines/raw.ts";
import type { Difference } from "./difference.ts";
import { nextUsers } from "./sums.ts";

interface DepositRow {
  readonly id: number;
  readonly booked: number;
  readonly wanted: number;
}

/**
 * Compares the open deposits of every user in the ledger with the batches that are not settled and the caches that are
 * not closed. One that is being created may not have its deposit yet.
 */
export async function checkDeposits(database: RawDatabase): Promise<Difference[]> {
  const differences: Difference[] = [];
  for await (const [after, last] of nextUsers(database)) {
    for (const { id, booked, wanted } of await readDeposits(database, after, last)) {
      const [found, expected] = [0 - Number(booked), Number(wanted)];
      if (found !== expected) differences.push({ what: "deposits", account: `user ${id}`, found, expected });
    }
  }
  return differences;
}

/** Reads both in one statement, because batches are created and settled meanwhile. */
function readDeposits(database: RawDatabase, after: number, last: number): Promise<DepositRow[]> {
  const booked = `select user_id, sum(quota) as quota from ledger
    where user_id > ? and user_id <= ? and kind in ('deposit', 'return') group by user_id`;
  const hasDeposit = "select 1 from ledger d where d.request_id = batches.request_id and d.kind = 'deposit'";
  const wanted = `select user_id, sum(deposit) as quota from batches
    where user_id > ? and user_id <= ? and phase in ('creating', 'open', 'ended', 'stuck')
      and (phase <> 'creating' or exists (${hasDeposit})) group by user_id`;
  const caches = `select user_id, sum(amount) as quota from cache_deposits
    where user_id > ? and user_id <= ?
      and exists (select 1 from ledger d where d.request_id = cache_deposits.request_id and d.kind = 'deposit')
    group by user_id`;
  const sql = `select users.id, coalesce(booked.quota, 0) as booked,
      coalesce(wanted.quota, 0) + coalesce(caches.quota, 0) as wanted
    from users left join (${booked}) booked on booked.user_id = users.id
    left join (${wanted}) wanted on wanted.user_id = users.id
    left join (${caches}) caches on caches.user_id = users.id
    where users.id > ? and users.id <= ? order by users.id`;
  return database.rows<DepositRow>(sql, [after, last, after, last, after, last, after, last]);
}
