// Counts the product files that name a field of a channel: its declaration, migration, place in the form and two texts.
// Everything else derives from the declaration, or uses the value.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CHANNEL_FIELD_NAMES, toCamelCase } from "../../packages/wire/src/index.ts";
import { ROOT } from "../bootstrap.mjs";
import { listProductFiles } from "./imports.ts";

const PACKAGES = ["wire", "gateway", "console", "cli"].map((name) => `packages/${name}/src`);
const MAX_FILES = 5;
/** A file that names this many fields lists them, as their declaration should alone. */
const MAX_NAMES = 7;
const MIGRATIONS = "packages/gateway/src/storage/schema/migrations/";

/** Files that use the value of a field. Reading it is the purpose of the field; carrying it is not. */
const READERS: Readonly<Record<string, readonly string[]>> = {
  max_input_tokens: [
    "packages/gateway/src/relay/selection/skip-reason.ts",
    // Members of the lists of upstreams and of answers, which have the same name.
    "packages/gateway/src/providers/core/listed-models.ts",
    "packages/gateway/src/relay/ingress/model-details.ts",
    // Columns of New API.
    "packages/gateway/src/commands/import/new-api/channels.ts",
    "packages/gateway/src/commands/import/new-api/columns.ts",
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
  "packages/gateway/src/commands/import/new-api/channels.ts",
  "packages/gateway/src/commands/import/new-api/columns.ts",
  // Where each field is parsed, checked or placed that needs more than its declaration.
  "packages/gateway/src/snapshot/channel-record.ts",
  "packages/gateway/src/resources/channels/input.ts",
  "packages/console/src/features/channels/form/sections.tsx",
];

const texts = new Map(
  PACKAGES.flatMap((folder) =>
    listProductFiles(join(ROOT, folder)).map((file) => [
      `${folder}/${file}`,
      readFileSync(join(ROOT, folder, file), "utf8"),
    ]),
  ),
);

function buildPattern(field: string): RegExp {
  return new RegExp(`\\b(?:${field}|${toCamelCase(field)})\\b`);
}

test.each(Object.entries(READERS))("%s is in five product files and those that use it", (field, readers) => {
  const pattern = buildPattern(field);
  const found = [...texts].filter(([, text]) => pattern.test(text)).map(([file]) => file);
  // The migration and the line that registers it are one step.
  const carriers = found.filter((file) => !readers.includes(file) && file !== `${MIGRATIONS}index.ts`);
  expect(readers.filter((file) => !found.includes(file))).toEqual([]);
  expect(carriers.length, carriers.join("\n")).toBeLessThanOrEqual(MAX_FILES);
});

test("no other file lists the fields of a channel", () => {
  const patterns = CHANNEL_FIELD_NAMES.filter((name) => name.includes("_")).map(buildPattern);
  const lists = [...texts].filter(([, text]) => patterns.filter((one) => one.test(text)).length >= MAX_NAMES);
  const wrong = lists.map(([file]) => file).filter((file) => !LISTS.includes(file));
  expect(wrong).toEqual([]);
});
