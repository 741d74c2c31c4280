import { bigint } from "../columns.ts";
import type { Migration } from "../migration.ts";

/**
 * The creation time of a budget, which does not count earlier use in its window. Older rows count from the start of
 * their window.
 */
export const budgetCreation: Migration = {
  version: 27,
  name: "times of creation of budgets",
  steps: [
    async (on) => {
      if (await on.hasColumn("budgets", "created_at")) return;
      await on.run(`alter table budgets add column created_at ${bigint(0).type[on.kind]} not null default 0`);
    },
  ],
};
