import { expect, test } from "vitest";
import {
  findTagLimitFaults,
  hasWrongTagLimits,
  printTagLimitRows,
  toTagLimitRows,
  toTagLimits,
  toTagLimitsText,
} from "./rows.ts";

const LIMITS = {
  end_user: { "*": { rpm: 20 }, "42": { blocked: true } },
  app: { shop: { tpm: 100_000, concurrency: 2 } },
};

test("limits are the same after they were shown as rows", () => {
  const rows = toTagLimitRows(toTagLimitsText(LIMITS)) ?? [];
  expect(rows).toContainEqual({ key: "app", value: "shop", rpm: "", tpm: "100000", concurrency: "2", blocked: "" });
  expect(rows).toHaveLength(3);
  expect(toTagLimits(printTagLimitRows(rows))).toEqual(LIMITS);
  expect([toTagLimitsText({}), toTagLimits("")]).toEqual(["", {}]);
});

test("rows that cannot be saved are marked, and blank ones are ignored", () => {
  expect(findTagLimitFaults({ key: "App", value: "a=b", rpm: "0", tpm: "1.5", concurrency: "x" })).toEqual([
    "key",
    "value",
    "rpm",
    "tpm",
    "concurrency",
  ]);
  expect(findTagLimitFaults({ key: "end_user", value: "a=b|c", rpm: "1" })).toEqual([]);
  expect(findTagLimitFaults({ key: "", value: "", rpm: "" })).toEqual([]);
  expect(printTagLimitRows([{ key: "", value: "", rpm: "" }])).toBe("");
  expect(hasWrongTagLimits(printTagLimitRows([{ key: "app", value: "shop", rpm: "many" }]))).toBe(true);
  expect(hasWrongTagLimits(printTagLimitRows([{ key: "app", value: "", rpm: "5" }]))).toBe(true);
  expect(hasWrongTagLimits(printTagLimitRows([{ key: "app", value: "*", rpm: "5" }]))).toBe(false);
});
