import { bigint } from "../columns.ts";
import type { Migration } from "../migration.ts";

/** What batches save is shown next to what they cost. */
export const batchSavings: Migration = {
  version: 39,
  name: "savings of batches",
  steps: [
    async (on) => {
      if (await on.hasColumn("batches", "saved")) return;
      await on.run(`alter table batches add column saved ${bigint().type[on.kind]} not null default 0`);
    },
  ],
};
