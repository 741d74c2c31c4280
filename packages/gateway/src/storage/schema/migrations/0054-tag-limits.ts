import { longText } from "../columns.ts";
import type { Migration, StepContext } from "../migration.ts";

/** Limits of a token's and an account's calls by the value of a tag; those of a team are in its settings. */
export const tagLimits: Migration = {
  version: 54,
  name: "limits of tags",
  steps: ["tokens", "users"].map((table) => async (on: StepContext) => {
    if (await on.hasColumn(table, "tag_limits")) return;
    await on.run(`alter table ${table} add column tag_limits ${longText().type[on.kind]}`);
  }),
};
