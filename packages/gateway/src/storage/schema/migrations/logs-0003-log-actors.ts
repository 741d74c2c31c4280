import { integer, text, type Column } from "../columns.ts";
import type { Migration, StepContext } from "../migration.ts";

/** Columns that the table has since this migration; older replicas leave them at their defaults. */
export const ACTOR_COLUMNS: Readonly<Record<string, Column>> = {
  actor: { ...text(32), initial: "''" },
  account_kind: integer(0),
};

/** The table, and those of a conversion to partitions that was interrupted. */
const TABLES = ["logs", "logs_parts", "logs_before"];

/** Who used a key of a team: the row itself names the wallet. */
export const logActors: Migration = {
  version: 3,
  name: "actors of log rows",
  steps: TABLES.flatMap((table) =>
    Object.entries(ACTOR_COLUMNS).map(([name, { type, initial }]) => async (on: StepContext) => {
      if (!(await on.hasColumn(table, "request_id")) || (await on.hasColumn(table, name))) return;
      await on.run(`alter table ${table} add column ${name} ${type[on.kind]} not null default ${initial}`);
    }),
  ),
};
