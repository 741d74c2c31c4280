import { bigint, integer, text } from "../columns.ts";
import { tables, type Migration } from "../migration.ts";

/** Reservations of replicas that have lost Redis, which a replica that has it makes there for them. */
export const balanceShares: Migration = {
  version: 48,
  name: "balance shares",
  steps: tables({
    balance_shares: {
      columns: {
        request_id: text(64),
        user_id: bigint(),
        token_id: bigint(),
        wanted: bigint(),
        wished: bigint(),
        is_charged: integer(),
        token_limit: text(32),
        limit_revision: bigint(),
        granted: bigint(),
        answer: text(255),
        asked_at: bigint(),
      },
      primaryKey: ["request_id"],
    },
    balance_keepers: {
      columns: { replica: text(191), until_at: bigint() },
      primaryKey: ["replica"],
    },
  }),
};
