import { expect, test } from "vitest";
import { parseLabels, printLabels } from "./labels.ts";

test("labels are read as they are written", () => {
  const labels = { cost_centre: "4711", unit: "a=b" };
  expect(parseLabels(printLabels(labels))).toEqual(labels);
  expect(parseLabels(" cost_centre = 4711 ,\n unit=a=b,")).toEqual(labels);
  expect(parseLabels("")).toEqual({});
});

test("a label without a name or a value is none", () => {
  expect(parseLabels("cost_centre")).toBeUndefined();
  expect(parseLabels("a=1,=2")).toBeUndefined();
  expect(parseLabels("a=")).toBeUndefined();
});
