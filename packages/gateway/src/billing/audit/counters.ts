import type { RawDatabase } from "../../storage/engines/raw.ts";
import { REAPED_UNUSED } from "../ledger/booking/booking.ts";
import type { Counter } from "../ledger/booking/opening-counter.ts";
import type { Difference } from "./difference.ts";

interface CounterSpec {
  readonly counter: Counter;
  readonly what: Difference["what"];
  readonly name: string;
  readonly table: string;
  readonly column: string;
  /** A query that returns `of_id` and `amount`: the sum of the ledger rows for each counter. */
  readonly explained: string;
}

const USES = "kind in ('consume', 'correct', 'refund')";
/** A token has used the deposits of its running batches. */
const SPENDINGS = "kind in ('consume', 'correct', 'refund', 'deposit', 'return')";
/** A correction moves the whole charge to its own channel, including what the reaper had charged on another one. */
const CORRECTED = "ledger k join ledger c on c.request_id = k.request_id and c.kind = 'correct'";

const COUNTERS: readonly CounterSpec[] = [
  {
    counter: "token_used",
    what: "token sum",
    name: "token",
    table: "tokens",
    column: "used_quota",
    explained: `select token_id as of_id, 0 - sum(quota) as amount from ledger where ${SPENDINGS} group by token_id`,
  },
  {
    counter: "channel_used",
    what: "channel sum",
    name: "channel",
    table: "channels",
    column: "used_quota",
    explained: `select of_id, 0 - sum(quota) as amount from (
      select channel_id as of_id, quota from ledger where ${USES}
      union all select k.channel_id, 0 - k.quota from ${CORRECTED} where k.kind = 'consume'
      union all select c.channel_id, k.quota from ${CORRECTED} where k.kind = 'consume') moved group by of_id`,
  },
  {
    counter: "requests",
    what: "requests",
    name: "user",
    table: "users",
    column: "request_count",
    explained: `select of_id, count(*) as amount from (
      select user_id as of_id from ledger where kind = 'consume' and detail <> '${REAPED_UNUSED}'
      union all select c.user_id from ${CORRECTED} where k.kind = 'consume' and k.detail = '${REAPED_UNUSED}'
      ) settled group by of_id`,
  },
];

interface CounterRow {
  readonly id: number;
  readonly found: number;
  readonly expected: number;
}

/**
 * Compares the usage of tokens and channels, and the requests of users, with all rows of the ledger. Each is one
 * statement: charges continue while it runs.
 */
export async function checkCounters(database: RawDatabase): Promise<Difference[]> {
  const differences: Difference[] = [];
  for (const { counter, what, name, table, column, explained } of COUNTERS) {
    const expected = "coalesce(explained.amount, 0) + coalesce(opening.amount, 0)";
    const sql = `select ${table}.id, ${table}.${column} as found, ${expected} as expected
      from ${table} left join (${explained}) explained on explained.of_id = ${table}.id
      left join opening_counters opening on opening.counter = ? and opening.id = ${table}.id
      where ${table}.${column} <> ${expected} order by ${table}.id`;
    for (const row of await database.rows<CounterRow>(sql, [counter]))
      differences.push({ what, account: `${name} ${row.id}`, found: row.found, expected: Number(row.expected) });
  }
  return differences;
}
