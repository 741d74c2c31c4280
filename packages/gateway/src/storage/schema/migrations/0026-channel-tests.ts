import { longText } from "../columns.ts";
import type { Migration } from "../migration.ts";

/** What the last test of a channel found wrong: its time alone shows a failed test as a fast one. */
export const channelTests: Migration = {
  version: 26,
  name: "outcomes of channel tests",
  steps: [
    async (on) => {
      if (await on.hasColumn("channels", "test_error")) return;
      await on.run(`alter table channels add column test_error ${longText().type[on.kind]}`);
    },
  ],
};
