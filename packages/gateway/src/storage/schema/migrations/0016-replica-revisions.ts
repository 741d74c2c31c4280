import { bigint } from "../columns.ts";
import type { Migration } from "../migration.ts";

/** Each replica reports the revision of channels and options that it uses. */
export const replicaRevisions: Migration = {
  version: 16,
  name: "revisions of replicas",
  steps: [
    async (on) => {
      if (await on.hasColumn("replicas", "revision")) return;
      await on.run(`alter table replicas add column revision ${bigint().type[on.kind]} not null default 0`);
    },
  ],
};
