import { expect, test } from "vitest";
import { callTests } from "./call-tests.ts";

test("every call of the management API is sent by a test", () => {
  const rows = callTests()
    .split("\n")
    .filter((line) => line.startsWith("| `"));
  expect(rows.length).toBeGreaterThan(100);
  expect(rows.filter((row) => row.endsWith("|  |"))).toEqual([]);
});
