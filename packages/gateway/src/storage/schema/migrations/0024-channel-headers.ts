import { longText } from "../columns.ts";
import type { Migration } from "../migration.ts";

/** Extra headers of a channel's calls, under the name that compatible consoles use. */
export const channelHeaders: Migration = {
  version: 24,
  name: "headers of channels",
  steps: [
    async (on) => {
      if (await on.hasColumn("channels", "header_override")) return;
      await on.run(`alter table channels add column header_override ${longText().type[on.kind]}`);
    },
  ],
};
