import type { UsagePoint } from "@fairway/wire";
import type { ChartSlot } from "../../ui/chart/types.ts";
import type { Period } from "./period.ts";

type Values = ChartSlot["values"];

/** One slot for each point of the period, also where nothing was called. */
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

/** Values of the previous period, next to those of the same place now. */
export function withBefore(slots: readonly ChartSlot[], before: readonly ChartSlot[], key: string): ChartSlot[] {
  return slots.map((slot, index) => ({
    ...slot,
    values: { ...slot.values, before: before[index]?.values[key] },
  }));
}

/** Calls that were neither refused nor failed. */
export function countGood({ calls, errors, refused }: Pick<UsagePoint, "calls" | "errors" | "refused">): number {
  return Math.max(0, calls - errors - refused);
}

export function errorShare({ calls, errors }: Pick<UsagePoint, "calls" | "errors">): number {
  return calls === 0 ? 0 : errors / calls;
}
