import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { EVENT_TYPE_NAMES } from "./catalogue.ts";

const SRC = join(import.meta.dirname, "..");
/** Files that name types without recording any. */
const NAMES_ONLY = /^(?:events\/catalogue|webhooks\/(?:texts|formats)\/.*|.*\.(?:test|contract))\.ts$/;

test("something records every type of the catalogue", () => {
  const files = globSync("**/*.ts", { cwd: SRC }).filter((file) => !NAMES_ONLY.test(file));
  const code = files.map((file) => readFileSync(join(SRC, file), "utf8")).join("\n");
  expect(EVENT_TYPE_NAMES.filter((type) => !code.includes(`"${type}"`))).toEqual([]);
});
