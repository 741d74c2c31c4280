import { longText } from "../columns.ts";
import type { Migration, Step } from "../migration.ts";

/** Limits are stored in the rows of tokens and users; a channel stores the state of each of its keys. */
export const entityLimits: Migration = {
  version: 10,
  name: "limits of entities",
  steps: [column("tokens", "limits"), column("users", "limits"), column("channels", "channel_info")],
};

function column(table: string, name: string): Step {
  return async (on) => {
    if (await on.hasColumn(table, name)) return;
    await on.run(`alter table ${table} add column ${name} ${longText().type[on.kind]}`);
  };
}
