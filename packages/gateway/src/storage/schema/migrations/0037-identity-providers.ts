import { bigint, id, integer, longText, text, unique } from "../columns.ts";
import { tables, type Migration } from "../migration.ts";

/** Identity providers of companies, the accounts that are linked to them, and what they opened. */
export const identityProviders: Migration = {
  version: 37,
  name: "identity providers",
  steps: [
    ...tables({
      identity_providers: {
        columns: {
          id: id(),
          slug: text(32),
          kind: text(16),
          name: text(64),
          issuer: text(255),
          settings: longText(),
          secret_sealed: longText(),
          mapping: longText(),
          scim_tokens: longText(),
          enforced: integer(0),
          status: integer(1),
          version: bigint(),
          created_at: bigint(),
          updated_at: bigint(),
        },
        indexes: [unique("slug")],
      },
      user_identities: {
        columns: {
          id: id(),
          provider_id: bigint(),
          subject: text(255),
          user_id: bigint(),
          granted: longText(),
          created_at: bigint(),
          last_at: bigint(),
        },
        indexes: [unique("provider_id", "subject"), unique("user_id", "provider_id")],
      },
    }),
    async (on) => {
      if (await on.hasColumn("sessions", "provider_id")) return;
      await on.run(`alter table sessions add column provider_id ${bigint().type[on.kind]} not null default 0`);
    },
    async (on) => {
      for (const name of ["idp_subject", "idp_sid"]) {
        if (await on.hasColumn("sessions", name)) continue;
        await on.run(`alter table sessions add column ${name} ${text(255).type[on.kind]} not null default ''`);
      }
    },
  ],
};
