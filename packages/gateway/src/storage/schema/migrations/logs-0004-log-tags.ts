import { text, type Column } from "../columns.ts";
import type { Migration, StepContext } from "../migration.ts";

/** Columns that the table has since this migration; older replicas leave them empty. */
export const TAG_COLUMNS: Readonly<Record<string, Column>> = {
  tags: { ...text(255), initial: "''" },
  end_user: { ...text(64), initial: "''" },
};

/** The table, and those of a conversion to partitions that was interrupted. */
const TABLES = ["logs", "logs_parts", "logs_before"];

/** What a call was for: the tags that a policy names, and the customer of the client. */
export const logTags: Migration = {
  version: 4,
  name: "tags of log rows",
  steps: TABLES.flatMap((table) =>
    Object.entries(TAG_COLUMNS).map(([name, { type, initial }]) => async (on: StepContext) => {
      if (!(await on.hasColumn(table, "request_id")) || (await on.hasColumn(table, name))) return;
      await on.run(`alter table ${table} add column ${name} ${type[on.kind]} not null default ${initial}`);
    }),
  ),
};
