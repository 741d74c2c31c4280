import { expect, test } from "vitest";
import { buildCountAxis, buildDurationAxis, buildQuotaAxis, buildShareAxis, type ChartAxis } from "./axis.ts";
import { buildScales } from "./drawn/scales.ts";

const slots = [{ start: 0, end: 3_600, values: {} }];

function label(axis: ChartAxis, top: number): readonly string[] {
  return buildScales({ slots, top, axis, width: 600, height: 180 }).labels;
}

/** From a thousandth to seven thousand million, in steps that hit no round number; a share is at most one. */
const TOPS = Array.from({ length: 150 }, (_, step) => 0.001 * 1.2193 ** step);
const MAX_SHARE = 1;

const COUNTS = buildCountAxis("en");
const DURATIONS = buildDurationAxis("en");
const SHARES = buildShareAxis("en");
const DOLLARS = buildQuotaAxis({ inCurrency: true, quotaPerUnit: 500_000 }, "en");
const OTHER_DOLLARS = buildQuotaAxis({ inCurrency: true, quotaPerUnit: 73_000 }, "zh");

const AXES: Readonly<Record<string, ChartAxis>> = {
  counts: COUNTS,
  durations: DURATIONS,
  shares: SHARES,
  dollars: DOLLARS,
  "dollars of another rate": OTHER_DOLLARS,
  "quota without a currency": buildQuotaAxis({ inCurrency: false, quotaPerUnit: 500_000 }, "zh"),
};

test.each(Object.entries(AXES))(
  "an axis of %s has one unit, one number of decimals and no label twice, whatever its largest value",
  (name, axis) => {
    for (const top of TOPS.filter((one) => name !== "shares" || one <= MAX_SHARE)) {
      const labels = label(axis, top);
      const said = `${top}: ${labels.join(", ")}`;
      expect(new Set(labels.map((text) => text.replace(/[\d.,]+/, "#"))).size, said).toBe(1);
      expect(new Set(labels.map((text) => /\.(\d+)/.exec(text)?.[1]?.length ?? 0)).size, said).toBe(1);
      // Below a millionth of the unit, nothing is left to tell apart.
      if (top > axis.selectUnit(top) / 1_000) expect(new Set(labels).size, said).toBe(labels.length);
      expect(Math.max(...labels.map((text) => text.length)), said).toBeLessThanOrEqual(12);
    }
  },
);

test("the lines of an axis are at round numbers of what its labels say", () => {
  expect(label(COUNTS, 18_000)).toEqual(["0k", "5k", "10k", "15k", "20k"]);
  expect(label(COUNTS, 1_900_000)).toEqual(["0.0M", "0.5M", "1.0M", "1.5M", "2.0M"]);
  expect(label(COUNTS, 9_000)).toEqual(["0", "2,000", "4,000", "6,000", "8,000", "10,000"]);
  expect(label(DOLLARS, 5_000)).toEqual(["$0.000", "$0.002", "$0.004", "$0.006", "$0.008", "$0.010"]);
  expect(label(DOLLARS, 950_000)).toEqual(["$0.00", "$0.50", "$1.00", "$1.50", "$2.00"]);
  expect(label(OTHER_DOLLARS, 200_000)).toEqual(["$0", "$1", "$2", "$3"]);
  expect(label(SHARES, 0.004)).toEqual(["0.0%", "0.1%", "0.2%", "0.3%", "0.4%"]);
  expect(label(DURATIONS, 800_000)).toEqual(["0 min", "5 min", "10 min", "15 min"]);
});
