import { bigint, id, index, integer, longText, nullable, real, text } from "../columns.ts";
import { tables, type Migration } from "../migration.ts";

export const routing: Migration = {
  version: 2,
  name: "routing",
  steps: tables({
    channels: {
      columns: {
        id: id(),
        type: integer(),
        key_sealed: longText(),
        key_hash: text(64),
        openai_organization: text(191),
        test_model: text(255),
        status: integer(),
        name: text(191),
        weight: bigint(),
        created_time: bigint(),
        test_time: bigint(0),
        response_time: bigint(0),
        base_url: text(512),
        other: longText(),
        balance: real(0),
        balance_updated_time: bigint(0),
        models: longText(),
        group: text(255),
        used_quota: bigint(0),
        model_mapping: longText(),
        status_code_mapping: longText(),
        max_input_tokens: bigint(0),
        priority: bigint(0),
        auto_ban: integer(1),
        other_info: longText(""),
        tag: nullable(text(191)),
        setting: nullable(longText()),
        param_override: nullable(longText()),
        version: bigint(1),
      },
      indexes: [
        // The list by priority, newest first within one.
        index("priority", "id"),
        // Actions on all channels of a tag or a status; the search by exact key and by name.
        index("tag"),
        index("status"),
        index("key_hash"),
        index("name"),
      ],
    },
    abilities: {
      columns: {
        group: text(64),
        model: text(255),
        channel_id: bigint(),
        enabled: integer(),
        priority: bigint(),
        weight: bigint(),
        tag: nullable(text(191)),
      },
      primaryKey: ["group", "model", "channel_id"],
      indexes: [
        // Rebuilding per channel; moving per tag.
        index("channel_id"),
        index("tag"),
      ],
    },
    options: {
      columns: { key: text(191), value: longText() },
      primaryKey: ["key"],
    },
    option_history: {
      columns: {
        id: id(),
        key: text(191),
        old_value: nullable(longText()),
        new_value: nullable(longText()),
        user_id: bigint(),
        created_at: bigint(),
      },
      // The history of one option, newest first.
      indexes: [index("key", "id")],
    },
    revisions: {
      columns: { topic: text(64), revision: bigint() },
      primaryKey: ["topic"],
    },
    managed_resources: {
      columns: {
        kind: text(64),
        name: text(191),
        resource_id: bigint(),
        owner: text(191),
        spec_hash: text(64),
        updated_at: bigint(),
      },
      primaryKey: ["kind", "name"],
      // Check whether a row on a screen is managed.
      indexes: [index("kind", "resource_id")],
    },
  }),
};
