import { describe, expect, it } from "vitest";
import { parseQuota } from "./amounts.ts";

describe("parseQuota", () => {
  it.each([
    ["5usd", 2_500_000],
    ["$0.01", 5_000],
    ["500000", 500_000],
    ["0", 0],
  ])("%s", (text, quota) => expect(parseQuota(text, 500_000)).toBe(quota));

  it("counts dollars in the units of the gateway", () => expect(parseQuota("5usd", 1_000_000)).toBe(5_000_000));

  it.each(["5eur", "-1", "1.5", "", "usd"])("refuses %j", (text) =>
    expect(() => parseQuota(text, 500_000)).toThrow(/is no amount/),
  );
});
