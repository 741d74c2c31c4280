import { ascii, bigint, index, integer, longText, nullable, text, unique, id, type Column } from "../columns.ts";
import { tables, type Migration, type StepContext } from "../migration.ts";

/**
 * Teams with a shared wallet. A wallet is a row of `users` of its own kind, so that ledger, settler and audits treat it
 * like any account; an older replica charges it correctly too.
 */
export const teams: Migration = {
  version: 34,
  name: "teams",
  steps: [
    column("users", "kind", integer(0)),
    column("tokens", "member_id", bigint(0)),
    column("tokens", "service_account_id", bigint(0)),
    ...tables({
      teams: {
        columns: {
          id: id(),
          account_id: bigint(),
          name: text(64),
          slug: ascii(40),
          description: text(255),
          labels: longText(),
          settings: longText(),
          status: integer(),
          created_by: bigint(),
          created_at: bigint(),
          deleted_at: nullable(bigint()),
          version: bigint(),
        },
        indexes: [unique("account_id"), unique("slug")],
      },
      team_members: {
        columns: {
          team_id: bigint(),
          user_id: bigint(),
          role: text(16),
          source: text(64),
          added_by: bigint(),
          created_at: bigint(),
        },
        primaryKey: ["team_id", "user_id"],
        // The teams of a person.
        indexes: [index("user_id")],
      },
      team_invitations: {
        columns: {
          id: id(),
          team_id: bigint(),
          email: nullable(text(255)),
          role: text(16),
          secret_hash: ascii(64),
          max_uses: bigint(),
          uses: bigint(),
          expires_at: bigint(),
          created_by: bigint(),
          created_at: bigint(),
          revoked_at: nullable(bigint()),
        },
        indexes: [index("team_id"), unique("secret_hash")],
      },
      service_accounts: {
        columns: {
          id: id(),
          team_id: bigint(),
          name: text(64),
          // The name while the row lives, then the name and the id, so that a name is free again after a deletion.
          name_key: text(96),
          description: text(255),
          status: integer(),
          created_by: bigint(),
          created_at: bigint(),
          last_used_at: bigint(),
          deleted_at: nullable(bigint()),
        },
        indexes: [unique("team_id", "name_key")],
      },
    }),
  ],
};

function column(table: string, name: string, { type, initial }: Column) {
  return async (on: StepContext) => {
    if (await on.hasColumn(table, name)) return;
    await on.run(`alter table ${table} add column ${name} ${type[on.kind]} not null default ${initial ?? 0}`);
  };
}
