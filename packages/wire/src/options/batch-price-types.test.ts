import { expect, test } from "vitest";
import { batchRatiosType } from "./batch-price-types.ts";

test("ratios of batches are one number for both directions, or one for each", () => {
  const read = batchRatiosType.read('{"a":0.5,"claude-*":{"input":1e-3},"b":{"input":0,"output":2}}');
  expect(read).toMatchObject({
    isValid: true,
    value: { a: { input: "0.5", output: "0.5" }, "claude-*": { input: "0.001" }, b: { input: "0", output: "2" } },
  });
});

test.each(['{"a":-1}', '{"a":"0.5"}', '{"a":{}}', '{"a":{"inputs":1}}', '{"a":[1]}', "[]", "x"])(
  "%s is no ratio",
  (text) => expect(batchRatiosType.read(text).isValid).toBe(false),
);
