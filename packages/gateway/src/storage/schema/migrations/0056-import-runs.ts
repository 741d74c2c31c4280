import { ascii, bigint, id, index, integer, longText, text } from "../columns.ts";
import { tables, type Migration } from "../migration.ts";

/** Imports from other gateways that were started in the console, with their reports. */
export const importRuns: Migration = {
  version: 56,
  name: "imports started in the console",
  steps: tables({
    import_runs: {
      columns: {
        id: id(),
        /** 0 until the job has begun. */
        job_id: bigint(0),
        source: ascii(32),
        place: text(255),
        dry_run: integer(0),
        started_by: bigint(0),
        created_at: bigint(0),
        report: longText(),
      },
      indexes: [index("job_id")],
    },
  }),
};
