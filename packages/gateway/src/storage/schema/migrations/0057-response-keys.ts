import { ascii } from "../columns.ts";
import type { Migration } from "../migration.ts";

const INDEX = "response_owners_account";

/** The key whose account stores a response, by its mark: an index names another key after the channel was edited. */
export const responseKeys: Migration = {
  version: 57,
  name: "keys of stored responses",
  steps: [
    async (on) => {
      if (await on.hasColumn("response_owners", "key_mark")) return;
      await on.run(`alter table response_owners add column key_mark ${ascii(16).type[on.kind]} not null default ''`);
    },
    async (on) => {
      // For an administrator who says that another key opens the account.
      if (!(await on.hasIndex("response_owners", INDEX)))
        await on.run(`create index ${INDEX} on response_owners (channel_id, key_mark)`);
    },
  ],
};
