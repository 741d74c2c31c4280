import { expect, test } from "vitest";
import { buildCountAxis, buildDurationAxis } from "../axis.ts";
import { buildScales } from "./scales.ts";

const HOUR = 3_600;
const START = new Date(2026, 10, 20).getTime() / 1000;
const hours = Array.from({ length: 24 }, (_, index) => ({
  start: START + index * HOUR,
  end: START + (index + 1) * HOUR,
  values: {},
}));
const size = { width: 600, height: 260, axis: buildCountAxis("en") };

test("the axis ends at a round number above the largest value", () => {
  expect(buildScales({ slots: hours, top: 0.0007, ...size }).lines.at(-1)).toBe(0.0008);
  expect(buildScales({ slots: hours, top: 99, ...size }).lines).toEqual([0, 20, 40, 60, 80, 100]);
  expect(buildScales({ slots: hours, top: 0, ...size }).lines.at(0)).toBe(0);
});

test("lines are at round numbers of a unit", () => {
  const scales = buildScales({ slots: hours, top: 800_000, ...size, axis: buildDurationAxis("en") });
  expect(scales.lines).toEqual([0, 300_000, 600_000, 900_000]);
  expect([scales.y(0), scales.y(900_000)]).toEqual([scales.plotBottom, scales.plotTop]);
});

test("small counts have lines at whole numbers only", () => {
  expect(buildScales({ slots: hours, top: 2, ...size }).lines).toEqual([0, 1, 2]);
});

test("each slot is found under its pixels, and none outside of the plot", () => {
  const scales = buildScales({ slots: hours, top: 10, ...size });
  expect(hours.map((_, index) => scales.indexAt(scales.middle(index)))).toEqual(hours.map((_, index) => index));
  expect(scales.indexAt(scales.plotLeft - 1)).toBeUndefined();
  expect(scales.indexAt(scales.plotRight + 1)).toBeUndefined();
});

test("times under the axis are round hours", () => {
  const { ticks } = buildScales({ slots: hours, top: 10, ...size });
  expect(ticks.length).toBeGreaterThan(3);
  expect(ticks.every(({ at }) => (at - START) % (3 * HOUR) === 0)).toBe(true);
});

test("labels fit the narrowest phone", () => {
  const { ticks } = buildScales({ slots: hours, top: 10, ...size, width: 280 });
  expect(ticks.length).toBeLessThan(5);
});
