import { ascii } from "../columns.ts";
import type { Migration } from "../migration.ts";

const OLD_INDEX = "budgets_window";
const INDEX = "budgets_window_maker";

/**
 * Budgets that teams made themselves. One of an administrator and one of the team may have the same windows: both must
 * have room.
 */
export const budgetMakers: Migration = {
  version: 45,
  name: "budgets of teams",
  steps: [
    async (on) => {
      if (await on.hasColumn("budgets", "managed_by")) return;
      await on.run(`alter table budgets add column managed_by ${ascii(8).type[on.kind]} not null default 'admin'`);
    },
    async (on) => {
      if (!(await on.hasIndex("budgets", INDEX)))
        await on.run(
          `create unique index ${INDEX} on budgets (scope, subject, period, length, filter_model, managed_by)`,
        );
      if (await on.hasIndex("budgets", OLD_INDEX))
        await on.run(on.kind === "mysql" ? `drop index ${OLD_INDEX} on budgets` : `drop index ${OLD_INDEX}`);
    },
  ],
};
