import { text } from "../columns.ts";
import type { Migration } from "../migration.ts";

/** An access token may be limited to parts of the management API. */
export const accessScopes: Migration = {
  version: 12,
  name: "scopes of access tokens",
  steps: [
    async (on) => {
      if (await on.hasColumn("access_tokens", "scopes")) return;
      await on.run(`alter table access_tokens add column scopes ${text(512).type[on.kind]}`);
    },
  ],
};
