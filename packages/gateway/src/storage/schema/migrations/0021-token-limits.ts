import { bigint } from "../columns.ts";
import type { Migration } from "../migration.ts";

/** Live balances follow changes of token limits in the order of their revisions. */
export const tokenLimits: Migration = {
  version: 21,
  name: "limits of tokens",
  steps: [
    async (on) => {
      if (await on.hasColumn("tokens", "limit_revision")) return;
      await on.run(`alter table tokens add column limit_revision ${bigint().type[on.kind]} not null default 0`);
    },
    async (on) => {
      // Each replica reads limits above the last revision that it knows.
      if (await on.hasIndex("tokens", "tokens_by_limit_revision")) return;
      await on.run("create index tokens_by_limit_revision on tokens (limit_revision)");
    },
  ],
};
