import { text } from "../columns.ts";
import type { Migration } from "../migration.ts";

const MODE = text(8);

/** When calls with a token get marks for prompt caches. */
export const tokenPromptCaches: Migration = {
  version: 50,
  name: "prompt caches of tokens",
  steps: [
    async (on) => {
      if (await on.hasColumn("tokens", "prompt_cache")) return;
      await on.run(`alter table tokens add column prompt_cache ${MODE.type[on.kind]} not null default 'inherit'`);
    },
  ],
};
