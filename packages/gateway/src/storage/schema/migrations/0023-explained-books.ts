import { bigint, text } from "../columns.ts";
import { tables, type Migration } from "../migration.ts";

const FIRST_BALANCE = 100_000_000;

/** Without an import, the ledger explains all balances and counters. */
const IMPORTED = `select 1 from ledger where (request_id >= 'import-user-' and request_id < 'import-user.')
  or (request_id >= 'litellm-' and request_id < 'litellm.')`;

const USES = "kind in ('consume', 'correct', 'refund')";
const CORRECTED = "ledger k join ledger c on c.request_id = k.request_id and c.kind = 'correct'";
const LAPSED = "'reaped, nothing delivered'";

/** The sum that the ledger explains for each counter, by the id of its row. */
const COUNTERS = [
  {
    counter: "token_used",
    table: "tokens",
    column: "used_quota",
    explained: `select token_id as of_id, 0 - sum(quota) as amount from ledger where ${USES} group by token_id`,
  },
  {
    counter: "channel_used",
    table: "channels",
    column: "used_quota",
    explained: `select of_id, 0 - sum(quota) as amount from (
      select channel_id as of_id, quota from ledger where ${USES}
      union all select k.channel_id, 0 - k.quota from ${CORRECTED} where k.kind = 'consume'
      union all select c.channel_id, k.quota from ${CORRECTED} where k.kind = 'consume') moved group by of_id`,
  },
  {
    counter: "requests",
    table: "users",
    column: "request_count",
    explained: `select of_id, count(*) as amount from (
      select user_id as of_id from ledger where kind = 'consume' and detail <> ${LAPSED}
      union all select c.user_id from ${CORRECTED} where k.kind = 'consume' and k.detail = ${LAPSED}) settled group by of_id`,
  },
];

/** Makes each balance and counter the sum of ledger rows and of its value when the ledger began. */
export const explainedBooks: Migration = {
  version: 23,
  name: "explained books",
  steps: [
    ...tables({
      opening_counters: {
        columns: { counter: text(32), id: bigint(), amount: bigint() },
        primaryKey: ["counter", "id"],
      },
    }),
    // The first balance had no row; the balance of an imported account has one.
    async (on) => {
      const moved = "coalesce((select sum(l.quota) from ledger l where l.user_id = users.id), 0)";
      await on.run(`insert into ledger (request_id, kind, user_id, token_id, channel_id, quota, detail, created_at)
        select concat('first-balance-', users.id), 'gift', users.id, 0, 0, ${FIRST_BALANCE}, 'first balance',
          users.created_at * 1000
        from users where users.role = 100
          and not exists (select 1 from ledger f where f.request_id = concat('first-balance-', users.id))
          and abs(users.quota - ${moved} - ${FIRST_BALANCE}) <= abs(users.quota - ${moved})`);
    },
    async (on) => {
      if (!(await on.has(IMPORTED)) || (await on.hasRows("opening_counters"))) return;
      const rows = COUNTERS.map(
        ({ counter, table, column, explained }) =>
          `select '${counter}' as counter, ${table}.id, ${table}.${column} - coalesce(explained.amount, 0) as amount
            from ${table} left join (${explained}) explained on explained.of_id = ${table}.id
            where ${table}.${column} <> coalesce(explained.amount, 0)`,
      );
      await on.run(`insert into opening_counters (counter, id, amount) ${rows.join(" union all ")}`);
    },
  ],
};
