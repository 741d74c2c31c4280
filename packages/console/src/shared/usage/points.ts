import type { UsagePoint } from "@fairway/wire";
import type { ChartSlot } from "../../ui/chart/types.ts";
import type { Period } from "./period.ts";

type Values = ChartSlot["values"];

/** Returns one slot for each point of the period, even without calls. */
export function buildSlots(
  period: Period,
  points: readonly UsagePoint[],
  readValues: (point: UsagePoint | undefined) => Values,
): ChartSlot[] {
  const byStart = new Map(points.map((point) => [point.start, point]));
  const slots: ChartSlot[] = [];
  for (let start = period.from; start <= period.to; start += period.interval) {
    slots.push({ start, end: start + period.interval, values: readValues(byStart.get(start)) });
  }
  return slots;
}

/** Leaves out the slot that is not over yet: a trend would end with a fall that did not happen. */
export function listWholeSlots(slots: readonly ChartSlot[], now: number): readonly ChartSlot[] {
  return slots.filter(({ end }) => end <= now + 1);
}

/** Adds the values of the previous period to those at the same position now. */
export function withBefore(slots: readonly ChartSlot[], before: readonly ChartSlot[], key: string): ChartSlot[] {
  return slots.map((slot, index) => ({
    ...slot,
    values: { ...slot.values, before: before[index]?.values[key] },
  }));
}

/** Counts the calls that were neither refused nor failed. */
export function countGood({ calls, errors, refused }: Pick<UsagePoint, "calls" | "errors" | "refused">): number {
  return Math.max(0, calls - errors - refused);
}

export function errorShare({ calls, errors }: Pick<UsagePoint, "calls" | "errors">): number {
  return calls === 0 ? 0 : errors / calls;
}
