import { longText, text, type Column } from "../columns.ts";
import type { Migration, StepContext } from "../migration.ts";

const COLUMNS: readonly (readonly [table: string, name: string, column: Column])[] = [
  ["tokens", "fixed_tags", longText()],
  ["tokens", "tags", longText()],
  ["batches", "tags", text(255)],
  ["batches", "end_user", text(64)],
];

/** The tags of a token's calls, which a client cannot override or which are stored; and those of a batch. */
export const tokenTags: Migration = {
  version: 41,
  name: "tags of tokens",
  steps: COLUMNS.map(([table, name, { type }]) => async (on: StepContext) => {
    if (await on.hasColumn(table, name)) return;
    const initial = table === "batches" ? " not null default ''" : "";
    await on.run(`alter table ${table} add column ${name} ${type[on.kind]}${initial}`);
  }),
};
