import { ascii, bigint, index, integer, longText, text, unique } from "../columns.ts";
import { tables, type Migration } from "../migration.ts";

/** What the directories of companies write over SCIM. */
export const directories: Migration = {
  version: 38,
  name: "directories",
  steps: tables({
    scim_users: {
      columns: {
        id: ascii(36),
        provider_id: bigint(),
        user_id: bigint(),
        user_name: text(255),
        user_name_key: text(255),
        external_id: text(255),
        active: integer(1),
        is_disabler: integer(0),
        data: longText(),
        version: bigint(),
        created_at: bigint(),
        updated_at: bigint(),
      },
      primaryKey: ["id"],
      indexes: [
        unique("provider_id", "user_name_key"),
        unique("user_id"),
        index("provider_id", "external_id"),
        index("provider_id", "id"),
      ],
    },
    scim_groups: {
      columns: {
        id: ascii(36),
        provider_id: bigint(),
        display_name: text(255),
        display_key: text(255),
        external_id: text(255),
        version: bigint(),
        created_at: bigint(),
        updated_at: bigint(),
      },
      primaryKey: ["id"],
      indexes: [index("provider_id", "display_key")],
    },
    scim_members: {
      columns: { group_id: ascii(36), member_id: ascii(36) },
      primaryKey: ["group_id", "member_id"],
      indexes: [index("member_id")],
    },
  }),
};
