import { bigint } from "../columns.ts";
import type { Migration } from "../migration.ts";

/** Live budgets follow the states of a row in the order of their revisions. */
export const budgetRevisions: Migration = {
  version: 15,
  name: "revisions of budgets",
  steps: [
    async (on) => {
      if (await on.hasColumn("budgets", "revision")) return;
      await on.run(`alter table budgets add column revision ${bigint().type[on.kind]} not null default 0`);
    },
  ],
};
