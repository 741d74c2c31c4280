// Counts the product files that name a field of a channel: its declaration, migration, place in the form and two texts.
// Everything else derives from the declaration, or uses the value.
import { expect, test } from "vitest";
import { CHANNEL_FIELD_NAMES } from "../../packages/wire/src/index.ts";
import { listFiles, listLists, MIGRATIONS } from "./field-files.ts";

const MAX_FILES = 5;
/** A file that names this many fields lists them, as their declaration should alone. */
const MAX_NAMES = 7;

/** Files that use the value of a field. Reading it is the purpose of the field; carrying it is not. */
const READERS: Readonly<Record<string, readonly string[]>> = {
  max_input_tokens: [
    "packages/gateway/src/relay/selection/skip-reason.ts",
    // Members of the lists of upstreams and of answers, which have the same name.
    "packages/gateway/src/providers/core/listed-models.ts",
    "packages/gateway/src/relay/ingress/model-details.ts",
    // Columns of New API.
    "packages/gateway/src/resources/import/databases/new-api/channels.ts",
    "packages/gateway/src/resources/import/databases/new-api/columns.ts",
  ],
  cost_ratio: [
    "packages/gateway/src/relay/selection/strategies.ts",
    "packages/gateway/src/resources/statistics/forecast.ts",
    "packages/cli/src/commands/channel/channel.ts",
  ],
};

/** Files that name many fields for a reason of their own. */
const LISTS: readonly string[] = [
  "packages/wire/src/channels/channel-fields.ts",
  // The columns of the first release.
  `${MIGRATIONS}0002-routing.ts`,
  // Columns of New API.
  "packages/gateway/src/resources/import/databases/new-api/channels.ts",
  "packages/gateway/src/resources/import/databases/new-api/columns.ts",
  // Where each field is parsed, checked or placed that needs more than its declaration.
  "packages/gateway/src/snapshot/channel-record.ts",
  "packages/gateway/src/resources/channels/input.ts",
  "packages/console/src/features/channels/form/sections.tsx",
];

test.each(Object.entries(READERS))("%s is in five product files and those that use it", (field, readers) => {
  const found = listFiles(field);
  const carriers = found.filter((file) => !readers.includes(file));
  expect(readers.filter((file) => !found.includes(file))).toEqual([]);
  expect(carriers.length, carriers.join("\n")).toBeLessThanOrEqual(MAX_FILES);
});

test("no other file lists the fields of a channel", () => {
  expect(listLists(CHANNEL_FIELD_NAMES, MAX_NAMES).filter((file) => !LISTS.includes(file))).toEqual([]);
});
