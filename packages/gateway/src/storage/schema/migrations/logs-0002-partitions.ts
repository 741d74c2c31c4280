import { PARTITION_IN_PLACE, partitionedLogs } from "../log-partitions.ts";
import type { Migration } from "../migration.ts";

/**
 * On servers, an empty table gets its partitions at once. A table with rows is left unchanged until an operator runs
 * `fairway-gateway logs partition`, because the duration of a copy grows with the table.
 */
export const logPartitions: Migration = {
  version: 2,
  name: "log partitions",
  steps: [
    async (on) => {
      if (on.kind === "sqlite") return;
      if (on.kind === "postgres") await on.run("lock table logs in access exclusive mode");
      if (await on.hasRows("logs")) return;
      // Preserves rows that another replica writes meanwhile.
      if (on.kind === "mysql") return on.run(PARTITION_IN_PLACE);
      await on.run("drop table logs");
      for (const sql of partitionedLogs("postgres", "logs")) await on.run(sql);
    },
  ],
};
