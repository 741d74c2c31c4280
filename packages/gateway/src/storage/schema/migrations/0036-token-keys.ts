import { ascii, bigint, id, index, integer, text, unique, type Column } from "../columns.ts";
import { tables, type Migration, type Step } from "../migration.ts";

/** The keys that a rotation replaced, and what a token knows of its rotations. */
export const tokenKeys: Migration = {
  version: 36,
  name: "keys of tokens",
  steps: [
    ...tables({
      token_keys: {
        columns: {
          id: id(),
          token_id: bigint(),
          key_hash: ascii(64),
          hint: text(32),
          created_at: bigint(),
          replaced_at: bigint(),
          expires_at: bigint(),
          last_used_at: bigint(0),
        },
        indexes: [unique("key_hash"), index("token_id"), index("expires_at")],
      },
    }),
    addColumn("key_hint", text(32), "''"),
    addColumn("rotated_at", bigint(), "0"),
    addColumn("old_keys_until", bigint(), "0"),
    addColumn("rotate_days", integer(), "0"),
    addColumn("rotate_grace_seconds", bigint(), "86400"),
    addColumn("next_rotation_at", bigint(), "0"),
    async (on) => {
      // The job that rotates looks for tokens that are due.
      if (await on.hasIndex("tokens", "tokens_by_next_rotation_at")) return;
      await on.run("create index tokens_by_next_rotation_at on tokens (next_rotation_at)");
    },
  ],
};

function addColumn(name: string, { type }: Column, initial: string): Step {
  return async (on) => {
    if (await on.hasColumn("tokens", name)) return;
    await on.run(`alter table tokens add column ${name} ${type[on.kind]} not null default ${initial}`);
  };
}
