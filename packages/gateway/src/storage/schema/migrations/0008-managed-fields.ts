import { longText } from "../columns.ts";
import type { Migration } from "../migration.ts";

/** Ownership is per field: fields that a source does not set stay editable. */
export const managedFields: Migration = {
  version: 8,
  name: "managed fields",
  steps: [
    async (on) => {
      if (await on.hasColumn("managed_resources", "fields")) return;
      await on.run(`alter table managed_resources add column fields ${longText().type[on.kind]}`);
    },
  ],
};
