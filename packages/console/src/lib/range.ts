const HOUR = 3_600;

/** Names of the ranges; those that a link stores by name move with time. */
const RANGES = ["today", "1h", "24h", "7d", "30d", "90d", "custom"] as const;
export type RangeName = (typeof RANGES)[number];

const LENGTHS: Partial<Record<RangeName, number>> = {
  "1h": HOUR,
  "24h": 24 * HOUR,
  "7d": 168 * HOUR,
  "30d": 720 * HOUR,
  "90d": 2_160 * HOUR,
};

export interface Bounds {
  /** Unix seconds; 0 = no bound. */
  readonly from: number;
  readonly to: number;
}

export function rangeName(text: string, otherwise: RangeName = "today"): RangeName {
  return RANGES.find((name) => name === text) ?? otherwise;
}

/** Returns the bounds of a range at a moment; custom ones come from the address. Today starts at local midnight. */
export function resolveBounds(range: RangeName, now: number, custom: { from: string; to: string }): Bounds {
  if (range === "custom") return { from: wholeSeconds(custom.from), to: wholeSeconds(custom.to) };
  const length = LENGTHS[range];
  if (length !== undefined) return { from: now - length, to: now + HOUR };
  return { from: Math.floor(new Date(now * 1000).setHours(0, 0, 0, 0) / 1000), to: now + HOUR };
}

function wholeSeconds(text: string): number {
  const value = Number(text);
  return Number.isSafeInteger(value) && value > 0 ? value : 0;
}
