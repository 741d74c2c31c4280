import { expect, test } from "vitest";
import { stopInTime } from "./stop-in-time.ts";

test("leaves behind what fails or does not end, and names it", async () => {
  const warnings: unknown[] = [];
  const log = { warn: (_message: string, fields?: object) => void warnings.push(fields) };
  await stopInTime(log, "orderly", 1_000, () => Promise.resolve());
  await stopInTime(log, "nothing to wait for", 1_000, () => {});
  expect(warnings).toEqual([]);
  await stopInTime(log, "broken", 1_000, () => Promise.reject(new Error("refused")));
  await stopInTime(log, "silent", 10, () => new Promise(() => {}));
  expect(warnings).toEqual([
    { part: "broken", error: new Error("refused") },
    { part: "silent", error: new Error("it did not end within 10 ms") },
  ]);
});
