import { describe, expect, it } from "vitest";
import { dollars, formatQuota, formatTime, parseDollarQuota, shortNumber, showQuota } from "./format.ts";

const currency = { quotaPerUnit: 500_000, inCurrency: true };
const units = { quotaPerUnit: 500_000, inCurrency: false };

describe("quota", () => {
  it("is shown as logs show it", () => {
    expect(formatQuota(100_000, currency)).toBe("$0.200000");
    expect(formatQuota(500_000, currency)).toBe("$1.000000");
    expect(formatQuota(-1, currency)).toBe("$-0.000002");
    expect(formatQuota(100_000, units)).toBe("100000 quota");
  });

  it("is shown as screens show it", () => {
    expect(showQuota(123_456, currency)).toBe("$0.25");
    expect(showQuota(123_456, units)).toBe("123.5k");
  });

  it("is exact beyond binary fractions", () => {
    expect(dollars(9_007_199_254_740_991, 6)).toBe("18014398509.481982");
    expect(dollars(1, 6, 7.5)).toBe("0.133333");
    expect(dollars(5, 0, 10)).toBe("1");
    expect(dollars(-5, 0, 10)).toBe("-1");
    expect(dollars(-1, 2, 500_000)).toBe("0.00");
  });

  it("comes back from dollars", () => {
    expect(parseDollarQuota("0.2")).toBe(100_000);
    expect(parseDollarQuota(" -1.5 ")).toBe(-750_000);
    expect(parseDollarQuota("0.000001")).toBe(1);
    expect(parseDollarQuota("ten")).toBeUndefined();
    expect(parseDollarQuota("1e20")).toBeUndefined();
  });
});

describe("numbers and times", () => {
  it("are shortened from ten thousand on", () => {
    expect([9999, 10_000, 1_500_000, 2e9, -12_345].map(shortNumber)).toEqual([
      "9999",
      "10.0k",
      "1.5M",
      "2.0B",
      "-12.3k",
    ]);
  });

  it("name the second", () => {
    expect(formatTime(1_700_000_000, "UTC")).toBe("2023-11-14 22:13:20");
    expect(formatTime(0, "Asia/Tokyo")).toBe("1970-01-01 09:00:00");
  });
});
