import { scaleLinear, scaleTime } from "d3-scale";
import type { ChartAxis } from "../axis.ts";
import { isByDay } from "../time-labels.ts";
import type { ChartSlot } from "../types.ts";

const TOP = 10;
const FOOT = 24;
const RIGHT = 8;
const LEAST_LEFT = 32;
/** Pixels of one character of an axis label, and of a time label with its gap. */
const SIGN_WIDTH = 7;
const TICK_WIDTH = 84;
const LINES = 4;

export interface Scales {
  readonly plotTop: number;
  readonly plotBottom: number;
  readonly plotLeft: number;
  readonly plotRight: number;
  /** Values of the horizontal lines. */
  readonly lines: readonly number[];
  /** The text of each line. */
  readonly labels: readonly string[];
  /** Times under the axis, with their x in pixels. */
  readonly ticks: readonly { readonly at: number; readonly x: number }[];
  y(value: number): number;
  left(index: number): number;
  right(index: number): number;
  middle(index: number): number;
  /** Returns the index of the slot at a pixel. */
  indexAt(x: number): number | undefined;
}

interface ScaleInput {
  readonly slots: readonly ChartSlot[];
  readonly top: number;
  readonly axis: ChartAxis;
  readonly width: number;
  readonly height: number;
}

export function buildScales({ slots, top, axis, width, height }: ScaleInput): Scales {
  const unit = axis.selectUnit(top);
  const vertical = scaleLinear()
    .domain([0, top > 0 ? top / unit : 1])
    .nice(LINES)
    .range([height - FOOT, TOP]);
  const lines = filterLines(vertical.ticks(LINES), top / unit).map((line) => line * unit);
  const labels = axis.printLines(lines, unit);
  const plotLeft = Math.max(LEAST_LEFT, Math.max(...labels.map(({ length }) => length)) * SIGN_WIDTH + 12);
  const plotRight = Math.max(plotLeft + 1, width - RIGHT);
  const first = slots[0]?.start ?? 0;
  const time = scaleTime()
    .domain([first * 1000, (slots.at(-1)?.end ?? first + 1) * 1000])
    .range([plotLeft, plotRight]);
  const toX = (at: number) => time(at * 1000);
  const left = (index: number) => toX(slots[index]?.start ?? first);
  const right = (index: number) => toX(slots[index]?.end ?? first);
  const middle = (index: number) => (left(index) + right(index)) / 2;
  return {
    plotTop: TOP,
    plotBottom: height - FOOT,
    plotLeft,
    plotRight,
    lines,
    labels,
    ticks: buildTicks(slots, time, Math.max(1, Math.floor((plotRight - plotLeft) / TICK_WIDTH))),
    y: (value) => vertical(value / unit),
    left,
    right,
    middle,
    indexAt(x) {
      if (x < plotLeft || x > plotRight || slots.length === 0) return undefined;
      const at = time.invert(x).getTime() / 1000;
      const index = slots.findIndex(({ end }) => at < end);
      return index === -1 ? slots.length - 1 : index;
    },
  };
}

/** Counts get no lines between whole numbers. */
function filterLines(lines: readonly number[], top: number): readonly number[] {
  return Number.isInteger(top) && top > 0 && top < LINES ? lines.filter(Number.isInteger) : lines;
}

/**
 * Bars of days have labels under their middle, evenly spaced; shorter slots have them at hours and days of the clock.
 */
function buildTicks(
  slots: readonly ChartSlot[],
  time: ReturnType<typeof scaleTime<number, number>>,
  most: number,
): Scales["ticks"] {
  const length = slots[0] ? slots[0].end - slots[0].start : 0;
  if (!isByDay(length)) {
    return time.ticks(most).map((date) => ({ at: date.getTime() / 1000, x: time(date) }));
  }
  const every = Math.ceil(slots.length / most);
  return slots
    .filter((_, index) => index % every === 0)
    .map(({ start, end }) => ({ at: start, x: time(((start + end) / 2) * 1000) }));
}
