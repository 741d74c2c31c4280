import { bigint, integer, text } from "../columns.ts";
import { tables, type Migration } from "../migration.ts";

export const replicas: Migration = {
  version: 14,
  name: "replicas",
  steps: tables({
    replicas: {
      columns: {
        instance: text(191),
        version: text(64),
        started_at: bigint(),
        seen_at: bigint(),
        is_leader: integer(),
        running: integer(),
      },
      primaryKey: ["instance"],
    },
  }),
};
