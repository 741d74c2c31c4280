import { bigint } from "../columns.ts";
import type { Migration } from "../migration.ts";

const INDEX = "budgets_template";

/** Budgets of single values that follow a template, such as those of each end user. */
export const budgetValues: Migration = {
  version: 51,
  name: "budgets of values",
  steps: [
    async (on) => {
      if (await on.hasColumn("budgets", "template_id")) return;
      await on.run(`alter table budgets add column template_id ${bigint(0).type[on.kind]} not null default 0`);
    },
    async (on) => {
      if (!(await on.hasIndex("budgets", INDEX))) await on.run(`create index ${INDEX} on budgets (template_id)`);
    },
  ],
};
