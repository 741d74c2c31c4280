import { bigint, index, integer, longText, text } from "../columns.ts";
import { tables, type Migration } from "../migration.ts";

export const logSums: Migration = {
  version: 18,
  name: "log sums",
  steps: tables({
    log_sums: {
      columns: {
        /** 1 = rows of one model, 0 = all rows. */
        by_model: integer(),
        model_name: text(255),
        /** Seconds of the interval: five minutes, an hour or a day. */
        span: integer(),
        start: bigint(),
        /** Type of the log rows. */
        type: integer(),
        log_rows: bigint(),
        counts: longText(),
      },
      primaryKey: ["by_model", "model_name", "span", "start", "type"],
      // The removal of sums older than the log.
      indexes: [index("start")],
    },
  }),
};
