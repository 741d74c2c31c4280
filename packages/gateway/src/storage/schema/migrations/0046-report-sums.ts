import { ascii, bigint, index, integer, text } from "../columns.ts";
import { tables, type Migration } from "../migration.ts";

/** Sums of calls by tag, end user and what else reports group by, and how many values each day has. */
export const reportSums: Migration = {
  version: 46,
  name: "sums of reports",
  steps: tables({
    report_sums: {
      columns: {
        /** What the sums are by; `CUBE` has the numbers. */
        cube: integer(),
        tag_key: ascii(32),
        /** Seconds of the interval: an hour or a day. */
        span: integer(),
        /** The account that paid. */
        owner_id: bigint(),
        start: bigint(),
        value: text(64),
        model: text(255),
        calls: bigint(),
        errors: bigint(),
        input_tokens: bigint(),
        output_tokens: bigint(),
        quota: bigint(),
      },
      primaryKey: ["cube", "tag_key", "span", "owner_id", "start", "value", "model"],
      indexes: [index("cube", "tag_key", "span", "start"), index("start")],
    },
    report_values: {
      columns: {
        cube: integer(),
        tag_key: ascii(32),
        owner_id: bigint(),
        /** The begin of the day. */
        start: bigint(),
        /** Values that have sums of their own. */
        counted: bigint(),
        /** Values that were counted as `~other`; one that comes again later counts again. */
        left_out: bigint(),
      },
      primaryKey: ["cube", "tag_key", "owner_id", "start"],
      indexes: [index("start")],
    },
  }),
};
