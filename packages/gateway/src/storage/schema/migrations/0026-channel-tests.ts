import { longText } from "../columns.ts";
import type { Migration } from "../migration.ts";

/** The error of a channel's last test: without it, a failed test looks like a fast one. */
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
