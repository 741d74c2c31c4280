import { bigint, id, index, integer, longText, nullable, rowId, text, unique } from "../columns.ts";
import { tables, type Migration } from "../migration.ts";

export const money: Migration = {
  version: 3,
  name: "money",
  steps: tables({
    ledger: {
      columns: {
        id: rowId(),
        request_id: text(64),
        kind: text(16),
        user_id: bigint(),
        token_id: bigint(),
        channel_id: bigint(),
        quota: bigint(),
        detail: longText(),
        created_at: bigint(),
      },
      indexes: [
        // No charge is booked twice.
        unique("request_id", "kind"),
        // The sum of an account and its newest movements.
        index("user_id", "id"),
        // Periods: audits, exports.
        index("created_at"),
      ],
    },
    holds: {
      columns: {
        request_id: text(64),
        user_id: bigint(),
        token_id: bigint(),
        amount: bigint(),
        seen: longText(),
        lease_until: bigint(),
        created_at: bigint(),
      },
      primaryKey: ["request_id"],
      indexes: [
        // The reaper.
        index("lease_until"),
        // The amount that an account really holds.
        index("user_id"),
      ],
    },
    log_outbox: {
      columns: { id: rowId(), request_id: text(64), row: longText() },
    },
    redemptions: {
      columns: {
        id: id(),
        user_id: bigint(),
        key: text(32),
        status: integer(),
        name: text(191),
        quota: bigint(),
        created_time: bigint(),
        redeemed_time: bigint(0),
        used_user_id: bigint(0),
        deleted_at: nullable(bigint()),
      },
      indexes: [
        // Redemption of a code.
        unique("key"),
        // The search by name.
        index("name"),
      ],
    },
    top_ups: {
      columns: {
        id: id(),
        user_id: bigint(),
        amount: bigint(),
        money: text(32),
        trade_no: text(191),
        create_time: bigint(),
        status: text(16),
        quota: bigint(),
        payment_method: text(16),
        gateway_trade_no: nullable(text(191)),
        complete_time: bigint(0),
      },
      indexes: [
        // Notification by the payment service.
        unique("trade_no"),
        // A user's orders, newest first.
        index("user_id", "id"),
        // Orders that were never paid.
        index("status", "create_time"),
      ],
    },
    quota_data: {
      columns: {
        id: id(),
        user_id: bigint(),
        username: text(64),
        model_name: text(255),
        created_at: bigint(),
        token_used: bigint(),
        count: bigint(),
        quota: bigint(),
      },
      indexes: [
        // Hourly sums are added to one row; a user's chart.
        unique("user_id", "username", "model_name", "created_at"),
        index("user_id", "created_at"),
        // The chart of all users from the index alone; the chart of one name.
        index("created_at", "model_name", "token_used", "count", "quota"),
        index("username", "created_at"),
      ],
    },
    budgets: {
      columns: {
        id: id(),
        scope: text(32),
        subject: text(191),
        period: text(32),
        time_zone: text(64),
        quota_limit: bigint(),
        soft_percent: integer(),
        is_hard: integer(),
        window_start: bigint(),
        used: bigint(0),
        held: bigint(0),
      },
      // Lookup by the limited entity.
      indexes: [unique("scope", "subject", "period")],
    },
  }),
};
