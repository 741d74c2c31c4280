import { ascii, bigint, id, index, integer, longText, nullable, text, unique } from "../columns.ts";
import { tables, type Migration } from "../migration.ts";

/** What happened, who wants to hear it by webhook, and each attempt to tell them. */
export const events: Migration = {
  version: 33,
  name: "events",
  steps: tables({
    events: {
      columns: {
        id: id(),
        type: ascii(64),
        at_ms: bigint(),
        account_id: bigint(0),
        team_id: bigint(0),
        user_id: bigint(0),
        severity: ascii(16),
        dedup_key: ascii(191),
        data: longText(),
      },
      indexes: [
        // A cause makes one event, however often it is written.
        unique("dedup_key"),
        // Lists of a person, of a team and of a type.
        index("user_id", "id"),
        index("team_id", "id"),
        index("type", "id"),
        // Old events are removed.
        index("at_ms"),
      ],
    },
    webhook_endpoints: {
      columns: {
        id: id(),
        owner: ascii(64),
        name: text(64),
        format: ascii(16),
        host: text(255),
        target_sealed: nullable(longText()),
        types: longText(),
        min_severity: ascii(16),
        language: ascii(8),
        quiet: nullable(longText()),
        group_seconds: integer(0),
        ordered: integer(0),
        status: ascii(16),
        failures: integer(0),
        timeouts: integer(0),
        failing_since: bigint(0),
        next_at_ms: bigint(0),
        succeeded_at: bigint(0),
        disabled_reason: text(500),
        created_at: bigint(),
        updated_at: bigint(),
      },
      indexes: [index("owner", "id"), index("status", "id")],
    },
    webhook_deliveries: {
      columns: {
        id: id(),
        event_id: bigint(),
        endpoint_id: bigint(),
        redelivery: integer(0),
        state: ascii(16),
        attempts: integer(0),
        created_ms: bigint(),
        next_at_ms: bigint(),
        last_status: integer(0),
        last_error: text(500),
        last_ms: bigint(0),
        body_hash: ascii(64),
      },
      indexes: [
        // The fan-out may look at an event twice.
        unique("event_id", "endpoint_id", "redelivery"),
        // Due deliveries, first of all endpoints, then of one.
        index("state", "next_at_ms"),
        index("endpoint_id", "state", "next_at_ms"),
        // The list of an endpoint.
        index("endpoint_id", "id"),
        // Old deliveries are removed.
        index("created_ms"),
      ],
    },
  }),
};
