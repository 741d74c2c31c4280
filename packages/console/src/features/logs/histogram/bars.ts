import type { LogHistogram } from "@fairway/wire";

/** Calls in one interval, both ends included; Unix seconds. */
export interface Bar {
  readonly from: number;
  readonly to: number;
  /** Calls of clients, including failed ones; other rows of the list are not plotted. */
  readonly count: number;
  readonly errors: number;
}

/** More than the server returns; an interval that a wrong clock made longer is cut. */
const MAX_BARS = 240;

/** Returns every interval of the period in order, including those without calls. */
export function buildBars({ interval, from, to, buckets }: LogHistogram): Bar[] {
  const counts = new Map(buckets.map((bucket) => [bucket.start, bucket]));
  const bars: Bar[] = [];
  for (let start = from - (from % interval); start <= to && bars.length < MAX_BARS; start += interval) {
    const { count = 0, errors = 0, others = 0 } = counts.get(start) ?? {};
    bars.push({ from: start, to: start + interval - 1, count: count - others, errors });
  }
  return bars;
}

interface Span {
  readonly from: number;
  readonly to: number;
}

/** Returns the time that two bars and all between them cover, in either order. */
export function calculateSpan(bars: readonly Bar[], one: number, other: number): Span | undefined {
  const first = bars[Math.max(0, Math.min(one, other))];
  const last = bars[Math.min(bars.length - 1, Math.max(one, other))];
  return first && last && { from: first.from, to: last.to };
}

/** Returns three times the span, around its middle, but not beyond now. */
export function widened({ from, to }: Span, now: number): Span {
  const length = to - from + 1;
  return { from: Math.max(1, from - length), to: Math.min(Math.max(now, to), to + length) };
}

const STEPS = [1, 1.5, 2, 3, 4, 5, 6, 8, 10];

/** Returns the next round number at or above a count, for the top of an axis. */
export function roundTop(count: number): number {
  if (count <= 4) return Math.max(1, count);
  const unit = 10 ** Math.floor(Math.log10(count));
  return Math.ceil((STEPS.find((step) => step * unit >= count) ?? 10) * unit);
}

/** Seconds between the ticks of the axis. */
const TICK_STEPS = [1, 5, 15, 30, 60, 300, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200];
const DAY = 86_400;
const MAX_TICKS = 6;

interface Tick {
  readonly at: number;
  /** Position on the axis, from 0 to 1. */
  readonly place: number;
  /** True if a day begins; the tick then shows the date. */
  readonly isDay: boolean;
}

/** Returns round local times of a span; `offset` = seconds that the local clock is ahead of UTC. */
export function buildTicks({ from, to }: Span, offset: number): Tick[] {
  const length = to + 1 - from;
  const days = Math.ceil(length / DAY / MAX_TICKS) * DAY;
  const step = TICK_STEPS.find((seconds) => length / seconds <= MAX_TICKS) ?? days;
  const ticks: Tick[] = [];
  for (let local = Math.ceil((from + offset) / step) * step; local - offset < to; local += step) {
    const at = local - offset;
    ticks.push({ at, place: (at - from) / length, isDay: local % DAY === 0 });
  }
  return ticks;
}
