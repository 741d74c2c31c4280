import { bigint, index, rowId, text, unique } from "../columns.ts";
import { tables, type Migration } from "../migration.ts";

export const liveBalances: Migration = {
  version: 6,
  name: "live balances",
  steps: tables({
    balance_outbox: {
      columns: {
        id: rowId(),
        ledger_id: bigint(),
        user_id: bigint(),
        token_id: bigint(),
        quota: bigint(),
        created_at: bigint(),
        applied_at: bigint(0),
      },
      indexes: [
        // One movement per ledger row.
        unique("ledger_id"),
        // Unapplied movements of an account, in order.
        index("user_id", "ledger_id"),
        // Unapplied movements, and applied movements to delete.
        index("applied_at"),
      ],
    },
    ledger_state: {
      columns: { name: text(32), number: bigint(), text: text(64) },
      primaryKey: ["name"],
    },
  }),
};
