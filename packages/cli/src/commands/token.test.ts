import { describe, expect, it } from "vitest";
import { expiryOf, quotaOf } from "./token.ts";

describe("quotaOf", () => {
  it.each([
    ["5usd", 2_500_000],
    ["$0.01", 5_000],
    ["500000", 500_000],
    ["0", 0],
  ])("%s", (text, quota) => expect(quotaOf(text)).toBe(quota));

  it.each(["5eur", "-1", "1.5", "", "usd"])("refuses %j", (text) =>
    expect(() => quotaOf(text)).toThrow(/is no amount/),
  );
});

describe("expiryOf", () => {
  it.each([
    ["never", -1],
    ["30d", 1_000 + 30 * 86_400],
    ["12h", 1_000 + 12 * 3_600],
    ["2027-01-31T00:00:00Z", 1_801_353_600],
  ])("%s", (text, at) => expect(expiryOf(text, 1_000)).toBe(at));

  it("refuses what is no time", () => expect(() => expiryOf("soon", 0)).toThrow(/is no time/));
});
