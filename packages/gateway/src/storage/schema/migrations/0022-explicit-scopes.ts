import type { Migration } from "../migration.ts";

/** Access tokens without scopes used to have all of their user's rights; now such a token has no rights. */
export const explicitScopes: Migration = {
  version: 22,
  name: "explicit scopes of access tokens",
  steps: [(on) => on.run("update access_tokens set scopes = 'write' where scopes is null or scopes = ''")],
};
