import { bigint, id, index, longText, nullable, text } from "../columns.ts";
import { tables, type Migration } from "../migration.ts";

export const operations: Migration = {
  version: 5,
  name: "operations",
  steps: tables({
    jobs: {
      columns: {
        id: id(),
        name: text(64),
        status: text(16),
        progress: longText(),
        started_by: bigint(),
        created_at: bigint(),
        updated_at: bigint(),
        finished_at: bigint(0),
      },
      // The latest runs of a job.
      indexes: [index("name", "id")],
    },
    leases: {
      columns: { name: text(64), holder: text(191), term: bigint(), expires_at: bigint() },
      primaryKey: ["name"],
    },
    audit_log: {
      columns: {
        id: id(),
        user_id: bigint(),
        username: text(64),
        action: text(64),
        target: text(255),
        old_value: nullable(longText()),
        new_value: nullable(longText()),
        ip: text(64),
        created_at: bigint(),
      },
      indexes: [
        // The list, newest first, for a period, an actor or a kind.
        index("created_at", "id"),
        index("user_id", "id"),
        index("action", "id"),
      ],
    },
  }),
};
