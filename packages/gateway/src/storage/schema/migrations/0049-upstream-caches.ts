import { ascii, bigint, index, longText, text } from "../columns.ts";
import { tables, type Migration } from "../migration.ts";

/** Prompts that clients cache at upstreams, and the deposits that pay for their storage. */
export const upstreamCaches: Migration = {
  version: 49,
  name: "upstream caches",
  steps: tables({
    upstream_caches: {
      columns: {
        id: ascii(64),
        user_id: bigint(),
        token_id: bigint(),
        serving_group: text(64),
        channel_id: bigint(),
        key_mark: ascii(16),
        upstream_id: text(255),
        model: text(191),
        request_id: text(64),
        phase: ascii(16),
        tokens: bigint(0),
        rate: longText(),
        wire: longText(),
        tags: text(255),
        end_user: text(64),
        created_at: bigint(),
        ends_at: bigint(0),
      },
      primaryKey: ["id"],
      indexes: [index("user_id", "created_at", "id"), index("phase", "ends_at"), index("channel_id")],
    },
    cache_deposits: {
      columns: { request_id: text(64), cache_id: ascii(64), user_id: bigint(), amount: bigint() },
      primaryKey: ["request_id"],
      indexes: [index("cache_id"), index("user_id")],
    },
  }),
};
