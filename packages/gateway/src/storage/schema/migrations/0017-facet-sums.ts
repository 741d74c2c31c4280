import { bigint, index, integer, longText, text } from "../columns.ts";
import { tables, type Migration } from "../migration.ts";

export const facetSums: Migration = {
  version: 17,
  name: "facet sums",
  steps: tables({
    facet_sums: {
      columns: {
        user_id: bigint(),
        /** Seconds of the interval: an hour or a day. */
        span: integer(),
        start: bigint(),
        /** Type of the log rows. */
        type: integer(),
        username: text(64),
        log_rows: bigint(),
        counts: longText(),
      },
      primaryKey: ["user_id", "span", "start", "type", "username"],
      // The filter of administrators, and the removal of sums older than the log.
      indexes: [index("username", "span", "start"), index("start")],
    },
  }),
};
