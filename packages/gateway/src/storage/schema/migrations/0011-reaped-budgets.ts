import { bigint, index, text } from "../columns.ts";
import { tables, type Migration } from "../migration.ts";

/** Charges that arrive after their reservation was reaped still count. */
export const reapedBudgets: Migration = {
  version: 11,
  name: "reaped budgets",
  steps: tables({
    budget_reaped: {
      columns: { request_id: text(64), budget_id: bigint(), charged: bigint(), closed_at: bigint(), look_at: bigint() },
      primaryKey: ["request_id", "budget_id"],
      // Rows due for another check.
      indexes: [index("look_at")],
    },
  }),
};
