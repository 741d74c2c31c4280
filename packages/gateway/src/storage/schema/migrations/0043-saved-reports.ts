import { ascii, bigint, id, index, integer, longText, text } from "../columns.ts";
import { tables, type Migration } from "../migration.ts";

/** Reports with a name, and when they are made by themselves. */
export const savedReports: Migration = {
  version: 43,
  name: "saved reports",
  steps: tables({
    saved_reports: {
      columns: {
        id: id(),
        user_id: bigint(0),
        name: text(64),
        question: longText(),
        cadence: ascii(8),
        hour: integer(0),
        mail: integer(0),
        next_at: bigint(0),
        sent_at: bigint(0),
        created_at: bigint(0),
        updated_at: bigint(0),
      },
      indexes: [index("user_id"), index("next_at")],
    },
  }),
};
