import { ascii, bigint, id, index, longText, text, unique } from "../columns.ts";
import { tables, type Migration } from "../migration.ts";

/** Access tokens of service accounts, with which programs manage a team. */
export const serviceTokens: Migration = {
  version: 44,
  name: "access tokens of service accounts",
  steps: tables({
    service_tokens: {
      columns: {
        id: id(),
        service_account_id: bigint(),
        name: text(64),
        token_hash: ascii(64),
        hint: ascii(16),
        scopes: longText(),
        created_by: bigint(),
        created_at: bigint(),
        last_used_at: bigint(),
        expires_at: bigint(),
      },
      indexes: [unique("token_hash"), index("service_account_id")],
    },
  }),
};
