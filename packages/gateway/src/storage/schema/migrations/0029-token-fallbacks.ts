import { longText } from "../columns.ts";
import type { Migration } from "../migration.ts";

/** The models that a token falls back to, in place of the operator's. */
export const tokenFallbacks: Migration = {
  version: 29,
  name: "fallbacks of tokens",
  steps: [
    async (on) => {
      if (await on.hasColumn("tokens", "fallbacks")) return;
      await on.run(`alter table tokens add column fallbacks ${longText().type[on.kind]}`);
    },
  ],
};
