import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { MESSAGES } from "@fairway/wire";
import { expect, test } from "vitest";

const FOLDER = join(import.meta.dirname, "..");

test("every message of the catalogue is provoked by a test, by its code or its words", () => {
  const files = ["src/**/*.test.ts", "test/**/*.test.ts"].flatMap((pattern) => globSync(pattern, { cwd: FOLDER }));
  const tests = files
    .filter((file) => !file.endsWith("messages.test.ts"))
    .map((file) => readFileSync(join(FOLDER, file), "utf8"))
    .join("\n");
  const missing = Object.entries(MESSAGES)
    .filter(([code, { text }]) => !tests.includes(`"${code}"`) && !tests.includes(text))
    .map(([code]) => code);
  expect(missing).toEqual([]);
});
