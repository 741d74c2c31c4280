import { expect, test } from "vitest";
import { buildScales } from "../../ui/chart/drawn/scales.ts";
import { printDurationTick, selectDurationUnit } from "./durations.ts";

const slots = [{ start: 0, end: 3_600, values: {} }];

test("all labels of an axis of durations have one unit, whatever its largest value", () => {
  for (let top = 1; top < 4_000_000; top = Math.ceil(top * 1.07)) {
    const unit = selectDurationUnit(top);
    const print = (value: number) => printDurationTick(value, unit);
    const { lines } = buildScales({ slots, top, unit, width: 600, height: 180, print });
    const labels = lines.map(print).filter((label) => label !== "0");
    const units = new Set(labels.map((label) => label.split(" ")[1]));
    expect(units.size, `${top}: ${labels.join(", ")}`).toBeLessThanOrEqual(1);
    expect(new Set(labels).size, `${top}: ${labels.join(", ")}`).toBe(labels.length);
  }
});
