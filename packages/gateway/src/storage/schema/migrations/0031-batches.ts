import { bigint, index, integer, longText, nullable, text, unique } from "../columns.ts";
import { tables, type Migration } from "../migration.ts";

/** Batches of clients, which outlive the process that creates them. */
export const batches: Migration = {
  version: 31,
  name: "batches",
  steps: tables({
    batches: {
      columns: {
        id: text(64),
        dialect: text(32),
        user_id: bigint(),
        token_id: bigint(),
        group: text(64),
        channel_id: bigint(),
        key_mark: text(16),
        upstream_id: text(191),
        request_id: text(64),
        endpoint: text(64),
        models: longText(),
        input_file_id: text(64),
        output_file_id: text(64),
        error_file_id: text(64),
        phase: text(16),
        wire: longText(),
        total: bigint(),
        succeeded: bigint(),
        failed: bigint(),
        expired: bigint(),
        cancelled: bigint(),
        deposit: bigint(),
        charged: bigint(),
        terms: longText(),
        metadata: longText(),
        idempotency_key: nullable(text(255)),
        body_hash: text(64),
        error: longText(),
        created_at: bigint(),
        expires_at: bigint(),
        ended_at: bigint(),
        settled_at: bigint(),
        deleted_at: bigint(),
        next_poll_at: bigint(),
        polled_at: bigint(),
        polls: integer(),
        failures: integer(),
        revision: bigint(),
      },
      primaryKey: ["id"],
      indexes: [
        // A user's list.
        index("user_id", "created_at", "id"),
        // The jobs.
        index("phase", "next_poll_at"),
        // The batches of a channel.
        index("channel_id", "phase"),
        unique("request_id"),
        unique("user_id", "idempotency_key"),
      ],
    },
    batch_ids: {
      columns: { batch_id: text(64), hashes: longText() },
      primaryKey: ["batch_id"],
    },
  }),
};
