import type { ChartProps, ChartSlot } from "./types.ts";

/** Returns the only slot with a value, if a line through the others would be none; undefined if there are more. */
export function findSinglePoint({
  kind,
  slots,
  series,
}: Pick<ChartProps, "slots" | "series"> & { readonly kind: "bars" | "lines" }): ChartSlot | undefined {
  // A bar shows its time among the hours without any.
  if (kind === "bars") return slots.length === 1 ? slots[0] : undefined;
  const measured = slots.filter(({ values }) => series.some(({ key }) => values[key] !== undefined));
  return measured.length === 1 ? measured[0] : undefined;
}
