import type { Migration, StepContext } from "../migration.ts";

/** The balance below which a person wants to be reminded; null = that of the operator. */
export const ownBalanceLimits: Migration = {
  version: 47,
  name: "own balance limits",
  steps: [
    async (on: StepContext) => {
      if (await on.hasColumn("users", "balance_limit")) return;
      await on.run(`alter table users add column balance_limit ${on.kind === "sqlite" ? "integer" : "bigint"}`);
    },
  ],
};
