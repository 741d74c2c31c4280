import { bigint, index, integer, text } from "../columns.ts";
import { tables, type Migration } from "../migration.ts";

export const responseOwners: Migration = {
  version: 7,
  name: "response owners",
  steps: tables({
    response_owners: {
      columns: {
        response_id: text(191),
        user_id: bigint(),
        channel_id: bigint(),
        key_index: integer(),
        expires_at: bigint(),
      },
      primaryKey: ["response_id", "user_id"],
      // Housekeeping.
      indexes: [index("expires_at")],
    },
  }),
};
