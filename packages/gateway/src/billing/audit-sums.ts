import type { RawDatabase } from "../storage/raw.ts";
import type { Difference } from "./audit.ts";

const AT_ONCE = 500;

interface UserRow {
  readonly id: number;
  readonly used_quota: number;
}

/** What every user has used against the ledger rows that say so. A user with a charge between two reads is read again. */
export async function checkLedgerSums(database: RawDatabase): Promise<Difference[]> {
  const differences: Difference[] = [];
  for (let after = 0; ;) {
    const users = await usersAfter(database, after);
    const last = users.at(-1);
    if (!last) return differences;
    for (const user of await unequal(database, users)) {
      const [again] = await unequal(database, await usersAfter(database, user.id - 1, 1));
      if (again)
        differences.push({
          what: "ledger sum",
          account: `user ${again.id}`,
          found: again.used_quota,
          expected: again.sum,
        });
    }
    after = last.id;
  }
}

function usersAfter(database: RawDatabase, id: number, limit = AT_ONCE): Promise<UserRow[]> {
  return database.rows<UserRow>(`select id, used_quota from users where id > ? order by id limit ${limit}`, [id]);
}

async function unequal(
  database: RawDatabase,
  users: readonly UserRow[],
): Promise<(UserRow & { readonly sum: number })[]> {
  const [first, last] = [users[0], users.at(-1)];
  if (!first || !last) return [];
  const sql =
    "select user_id, sum(quota) as quota from ledger where user_id between ? and ? and kind in ('consume', 'correct', 'refund') group by user_id";
  const rows = await database.rows<{ user_id: number; quota: number }>(sql, [first.id, last.id]);
  const sums = new Map(rows.map(({ user_id, quota }) => [user_id, 0 - Number(quota)]));
  return users.flatMap((user) => {
    const sum = sums.get(user.id) ?? 0;
    return sum === user.used_quota ? [] : [{ ...user, sum }];
  });
}
