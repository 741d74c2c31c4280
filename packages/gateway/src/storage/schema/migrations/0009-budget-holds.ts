import { bigint, index, text } from "../columns.ts";
import { tables, type Migration } from "../migration.ts";

export const budgetHolds: Migration = {
  version: 9,
  name: "budget holds",
  steps: tables({
    budget_holds: {
      columns: { request_id: text(64), budget_id: bigint(), amount: bigint(), lease_until: bigint() },
      primaryKey: ["request_id", "budget_id"],
      // Expired reservations of dead processes.
      indexes: [index("lease_until")],
    },
  }),
};
