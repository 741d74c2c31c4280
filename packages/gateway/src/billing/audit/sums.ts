import type { RawDatabase } from "../../storage/engines/raw.ts";
import type { Difference } from "./difference.ts";

const AT_ONCE = 500;

interface SumRow {
  readonly id: number;
  readonly used_quota: number;
  readonly moved: number;
}

/** Compares the usage of every user with the sum of the ledger rows. */
export async function checkLedgerSums(database: RawDatabase): Promise<Difference[]> {
  const differences: Difference[] = [];
  for await (const [after, last] of nextUsers(database)) {
    for (const { id, used_quota: found, moved } of await sums(database, after, last)) {
      const expected = 0 - Number(moved);
      if (found !== expected) differences.push({ what: "ledger sum", account: `user ${id}`, found, expected });
    }
  }
  return differences;
}

/** Splits all users into id ranges: above the first number, up to the second. */
export async function* nextUsers(database: RawDatabase): AsyncGenerator<readonly [number, number]> {
  let after = 0;
  for (
    let last = await findLastUserId(database, after);
    last !== undefined;
    last = await findLastUserId(database, after)
  ) {
    yield [after, last];
    after = last;
  }
}

async function findLastUserId(database: RawDatabase, after: number): Promise<number | undefined> {
  const users = await database.rows<{ id: number }>(`select id from users where id > ? order by id limit ${AT_ONCE}`, [
    after,
  ]);
  return users.at(-1)?.id;
}

/** Reads both in one statement: summing millions of rows takes seconds, during which charges continue. */
function sums(database: RawDatabase, after: number, last: number): Promise<SumRow[]> {
  const moved = `select user_id, sum(quota) as quota from ledger
    where user_id > ? and user_id <= ? and kind in ('consume', 'correct', 'refund') group by user_id`;
  const sql = `select users.id, users.used_quota, coalesce(movements.quota, 0) as moved
    from users left join (${moved}) movements on movements.user_id = users.id
    where users.id > ? and users.id <= ? order by users.id`;
  return database.rows<SumRow>(sql, [after, last, after, last]);
}
