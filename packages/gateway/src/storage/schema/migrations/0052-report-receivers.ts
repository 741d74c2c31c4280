import { ascii } from "../columns.ts";
import type { Migration } from "../migration.ts";

/** People to whom a scheduled report is mailed too, and what the mails have as a file. */
export const reportReceivers: Migration = {
  version: 52,
  name: "receivers of reports",
  steps: [
    async (on) => {
      if (await on.hasColumn("saved_reports", "receivers")) return;
      await on.run(`alter table saved_reports add column receivers ${ascii(255).type[on.kind]} not null default '[]'`);
    },
    async (on) => {
      if (await on.hasColumn("saved_reports", "attach")) return;
      await on.run(`alter table saved_reports add column attach ${ascii(8).type[on.kind]} not null default 'none'`);
    },
  ],
};
