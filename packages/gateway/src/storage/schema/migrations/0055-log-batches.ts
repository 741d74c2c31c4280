import { bigint } from "../columns.ts";
import type { Migration } from "../migration.ts";

const BATCH = bigint();
const INDEX = "log_outbox_by_batch";

/** The batches in which rows go to a log that gives no ids. */
export const logBatches: Migration = {
  version: 55,
  name: "batches of log rows",
  steps: [
    async (on) => {
      if (await on.hasColumn("log_outbox", "batch")) return;
      await on.run(`alter table log_outbox add column batch ${BATCH.type[on.kind]} not null default 0`);
    },
    async (on) => {
      if (await on.hasIndex("log_outbox", INDEX)) return;
      await on.run(`create index ${INDEX} on log_outbox (batch)`);
    },
  ],
};
