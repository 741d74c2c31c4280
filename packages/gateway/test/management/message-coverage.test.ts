import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { MESSAGE_CODES, MESSAGES, type MessageKey } from "@fairway/wire";
import { expect, test } from "vitest";

const FOLDER = join(import.meta.dirname, "../..");

test("every message of the catalogue is in a test, by its code or its text", () => {
  const files = ["src/**/*.test.ts", "test/**/*.test.ts"].flatMap((pattern) => globSync(pattern, { cwd: FOLDER }));
  const tests = files
    .filter((file) => !file.endsWith("message-coverage.test.ts"))
    .map((file) => readFileSync(join(FOLDER, file), "utf8"))
    .join("\n");
  const missing = (Object.keys(MESSAGES) as MessageKey[]).filter(
    (key) => ![`"${MESSAGE_CODES[key]}"`, `"${key}"`, MESSAGES[key].text].some((words) => tests.includes(words)),
  );
  expect(missing).toEqual([]);
});
