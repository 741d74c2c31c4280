import { ascii, bigint, index, longText, text } from "../columns.ts";
import { tables, type Migration } from "../migration.ts";

/** What clients store at upstreams (files, running uploads), and how much of it each user has. */
export const upstreamObjects: Migration = {
  version: 30,
  name: "upstream objects",
  steps: tables({
    upstream_objects: {
      columns: {
        id: ascii(64),
        user_id: bigint(),
        token_id: bigint(),
        kind: ascii(16),
        dialect: ascii(16),
        channel_id: bigint(),
        key_mark: ascii(16),
        upstream_id: text(255),
        name: text(512),
        mime: text(191),
        purpose: text(32),
        bytes: bigint(0),
        state: ascii(16),
        facts: longText(),
        created_at: bigint(),
        expires_at: bigint(0),
        next_check_at: bigint(0),
      },
      primaryKey: ["id", "user_id"],
      indexes: [
        index("user_id", "kind", "dialect", "created_at", "id"),
        index("channel_id", "kind"),
        // The sweep.
        index("state", "next_check_at"),
      ],
    },
    object_usage: {
      columns: { user_id: bigint(), files: bigint(0), bytes: bigint(0) },
      primaryKey: ["user_id"],
    },
  }),
};
