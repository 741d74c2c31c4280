import { real } from "../columns.ts";
import type { Migration } from "../migration.ts";

/** What the operator pays for the calls of a channel, relative to the list price; the strategy `cost` compares it. */
export const costRatio: Migration = {
  version: 32,
  name: "cost ratio of channels",
  steps: [
    async (on) => {
      if (await on.hasColumn("channels", "cost_ratio")) return;
      await on.run(`alter table channels add column cost_ratio ${real(1).type[on.kind]} not null default 1`);
    },
  ],
};
