import { bigint, integer, text, type Column } from "../columns.ts";
import type { Migration, StepContext } from "../migration.ts";

const COLUMNS: readonly (readonly [string, Column, string])[] = [
  ["length", integer(), "0"],
  ["anchor", text(8), "''"],
  ["ends_at", bigint(), "0"],
  ["filter_model", text(191), "''"],
  ["thresholds", text(64), "''"],
  ["forecast", integer(), "0"],
  ["forecast_in", bigint(), "0"],
  ["exhausted_in", bigint(), "0"],
];

const OLD_INDEX = "budgets_scope_subject_period";
const INDEX = "budgets_window";

/**
 * Windows of hours, quarters and years, several budgets of one subject and period, and thresholds that are reported once
 * in each window: `noted` is the highest one so far.
 */
export const budgetWindows: Migration = {
  version: 35,
  name: "windows and thresholds of budgets",
  steps: [
    async (on) => {
      for (const [column, { type }, initial] of COLUMNS) {
        if (await on.hasColumn("budgets", column)) continue;
        await on.run(`alter table budgets add column ${column} ${type[on.kind]} not null default ${initial}`);
      }
    },
    async (on) => {
      if (await on.hasColumn("budgets", "noted")) return;
      await on.run(`alter table budgets add column noted ${integer().type[on.kind]} not null default 0`);
      // What was reported before is not reported again.
      await on.run(
        "update budgets set noted = case when used >= quota_limit then 100 when soft_percent > 0 and used * 100 >= quota_limit * soft_percent then soft_percent else 0 end",
      );
    },
    async (on) => {
      if (!(await on.hasIndex("budgets", INDEX)))
        await on.run(`create unique index ${INDEX} on budgets (scope, subject, period, length, filter_model)`);
      await dropOldIndex(on);
    },
  ],
};

async function dropOldIndex(on: StepContext): Promise<void> {
  if (!(await on.hasIndex("budgets", OLD_INDEX))) return;
  await on.run(on.kind === "mysql" ? `drop index ${OLD_INDEX} on budgets` : `drop index ${OLD_INDEX}`);
}
