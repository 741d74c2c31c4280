import { expect, test } from "vitest";
import { MAIN_COLOUR } from "./colours.ts";
import { findSinglePoint } from "./find-single-point.ts";

const series = [{ key: "p50", label: "p50", colour: MAIN_COLOUR }];
const slot = (start: number, value: number | undefined) => ({ start, end: start + 1, values: { p50: value } });

test("a line of one point is none, and zero is a point", () => {
  const one = slot(1, 12);
  expect(findSinglePoint({ kind: "lines", series, slots: [slot(0, undefined), one, slot(2, undefined)] })).toBe(one);
  expect(findSinglePoint({ kind: "lines", series, slots: [slot(0, 0), one] })).toBeUndefined();
  expect(findSinglePoint({ kind: "lines", series, slots: [slot(0, undefined)] })).toBeUndefined();
});

test("one bar keeps its place among hours without any", () => {
  expect(findSinglePoint({ kind: "bars", series, slots: [slot(0, 0), slot(1, 12)] })).toBeUndefined();
  const only = slot(1, 12);
  expect(findSinglePoint({ kind: "bars", series, slots: [only] })).toBe(only);
});
