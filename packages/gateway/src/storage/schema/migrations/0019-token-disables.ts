import { integer } from "../columns.ts";
import type { Migration } from "../migration.ts";

/** An owner cannot enable a token that an administrator disabled. */
export const tokenDisables: Migration = {
  version: 19,
  name: "disables of tokens",
  steps: [
    async (on) => {
      if (await on.hasColumn("tokens", "disabled_by_admin")) return;
      await on.run(`alter table tokens add column disabled_by_admin ${integer().type[on.kind]} not null default 0`);
    },
  ],
};
