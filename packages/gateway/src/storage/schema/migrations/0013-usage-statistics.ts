import { bigint, index, integer, longText, text } from "../columns.ts";
import { tables, type Migration } from "../migration.ts";

export const usageStatistics: Migration = {
  version: 13,
  name: "usage statistics",
  steps: tables({
    usage_statistics: {
      columns: {
        /** Seconds of the interval: an hour or a day. */
        span: integer(),
        dimension: integer(),
        /** The user that the numbers are for; 0 = all users. */
        owner_id: bigint(),
        subject: text(255),
        start: bigint(),
        calls: bigint(),
        errors: bigint(),
        refused: bigint(),
        quota: bigint(),
        input_tokens: bigint(),
        output_tokens: bigint(),
        latency: longText(),
        first_token: longText(),
      },
      primaryKey: ["span", "dimension", "owner_id", "subject", "start"],
      // All subjects of a period, with their sums from the index alone.
      indexes: [index("span", "dimension", "start", "owner_id", "subject", "quota")],
    },
  }),
};
