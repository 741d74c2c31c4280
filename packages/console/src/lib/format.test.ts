import { expect, test } from "vitest";
import {
  abbreviate,
  dollars,
  formatChange,
  formatCount,
  formatElapsed,
  formatExactTime,
  formatQuota,
  formatQuotaExact,
  formatQuotaPrecise,
  formatShare,
  formatWhen,
  fromLocalInput,
  parseAmount,
  pricePerMillion,
  seconds,
  toLocalInput,
} from "./format.ts";

const short = (value: number) => abbreviate(value, "en");

test("large counts are abbreviated from ten thousand on (C-003)", () => {
  expect([9_999, 10_000, 12_345, 1_000_000, 2_500_000_000].map(short)).toEqual(["9,999", "10k", "12.3k", "1M", "2.5B"]);
  expect([999_949, 999_950, 999_949_999, 999_999_999].map(short)).toEqual(["999.9k", "1M", "999.9M", "1B"]);
});

test("dollars have two decimals, and amounts below a cent do not read as nothing", () => {
  expect([0, 1, 1234.5, 0.004, 0.000002, -0.5].map((amount) => dollars(amount, "en"))).toEqual([
    "$0.00",
    "$1.00",
    "$1,234.50",
    "$0.004",
    "$0.000002",
    "-$0.50",
  ]);
  expect(dollars(1e-9, "en")).toBe("<$0.000001");
});

test("quota follows the display option", () => {
  const display = { quotaPerUnit: 500_000, inCurrency: true };
  const counted = { ...display, inCurrency: false };
  expect(formatQuota(250_000, display, "en")).toBe("$0.50");
  expect(formatQuota(250_000, counted, "en")).toBe("250k");
  expect(formatQuotaPrecise(8_649, display, "en")).toBe("$0.017298");
  expect(formatQuotaPrecise(8_649, counted, "en")).toBe("8,649");
});

test("thousands are parted as the language does it, the decimals stay as many", () => {
  const display = { quotaPerUnit: 500_000, inCurrency: true };
  const quota = 617_283_945_000;
  expect(["en", "zh", "de"].map((language) => formatCount(1_234_567, language))).toEqual([
    "1,234,567",
    "1,234,567",
    "1.234.567",
  ]);
  expect(formatQuota(quota, display, "en")).toBe("$1,234,567.89");
  expect(formatQuotaPrecise(-quota, display, "en")).toBe("-$1,234,567.890000");
  expect(formatQuotaExact(quota, display, "en")).toBe("617,283,945,000 · $1,234,567.890000");
});

test("prices carry no dust of binary fractions", () => {
  expect(pricePerMillion(0.1 * 3, "en")).toBe("$0.30");
  expect(pricePerMillion(0.833333325, "en")).toBe("$0.833333");
  expect(pricePerMillion(0.000000123456789, "en")).toBe("$0.000000123457");
  expect(pricePerMillion(1_200, "en")).toBe("$1,200.00");
});

test("amounts are read with and without the sign of the currency", () => {
  expect(parseAmount("1", 500_000)).toBe(500_000);
  expect(parseAmount(" $1,000.5 ", 500_000)).toBe(500_250_000);
  expect(["", "-1", "abc", "1e9", "99999999999999"].map((text) => parseAmount(text, 500_000))).toEqual(
    Array.from({ length: 5 }, () => undefined),
  );
});

test("a comma parts thousands: a decimal comma is refused instead of multiplying the amount", () => {
  expect(["1,000", "12,345.5", "1,000,000"].map((text) => parseAmount(text, 1))).toEqual([1_000, 12_346, 1_000_000]);
  expect(["1,5", "0,50", "1,00", "1000,5", ",5", "1,0000"].map((text) => parseAmount(text, 1))).toEqual(
    Array.from({ length: 6 }, () => undefined),
  );
});

test("times are relative within a week and dates afterwards", () => {
  const now = 1_700_000_000;
  expect(formatWhen(now - 180, now, "en")).toBe("3 min. ago");
  expect(formatWhen(now + 7, now, "en")).toBe("now");
  expect(formatWhen(now - 45, now, "en")).toBe("45 sec. ago");
  expect(formatWhen(now + 2 * 86_400, now, "en")).toBe("in 2 days");
  expect(formatWhen(now - 8 * 86_400, now, "en")).toMatch(/2023/);
});

test("durations keep three significant digits", () => {
  expect([840, 12_340, 147_000].map(seconds)).toEqual(["0.84 s", "12.3 s", "147 s"]);
});

test("a local date input returns the time it was made from", () => {
  expect(fromLocalInput(toLocalInput(1_700_000_000))).toBe(1_700_000_000);
  expect(fromLocalInput("soon")).toBeUndefined();
});

test("lengths of time are read at a glance", () => {
  expect([0.4, 48, 125, 3_725].map(formatElapsed)).toEqual(["0 s", "48 s", "2 min 05 s", "1 h 02 min"]);
});

test("growth is a percentage as long as it can be read", () => {
  expect(formatChange(112, 100, "en")).toBe("+12%");
  expect(formatChange(50, 100, "en")).toBe("-50%");
  expect(formatChange(1_400, 100, "en")).toBe("×14");
  expect(formatChange(913_378_000, 100, "en")).toBe(">×1,000");
  expect(formatChange(5, 0, "en")).toBeUndefined();
  expect(formatChange(1.025, 1, "en", 1)).toBe("+2.5%");
});

test("writes exact times with 24 hours in every language", () => {
  const evening = new Date(2026, 10, 25, 21, 5, 9).getTime() / 1000;
  for (const locale of ["en", "zh"]) {
    expect(formatExactTime(evening, locale)).toContain("21:05:09");
    expect(formatExactTime(evening, locale)).not.toMatch(/PM|下午/);
  }
});

test("shares that stand below one another have the same digits, and the smallest does not read as nothing", () => {
  expect([0, 1, 4, 28.71, 100].map((part) => formatShare(part, 100, "en", 1))).toEqual([
    "0.0%",
    "1.0%",
    "4.0%",
    "28.7%",
    "100.0%",
  ]);
  expect([formatShare(4, 100, "en"), formatShare(1, 10_000, "en"), formatShare(0, 0, "en")]).toEqual([
    "4%",
    "<0.1%",
    "0%",
  ]);
});
