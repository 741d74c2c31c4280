import type { UsageDimension } from "@fairway/wire";

/**
 * Numbers of the column `dimension`; never change one. Users read their own `userModel`; `attempts` is the sum over all
 * channels.
 */
export const DIMENSION = {
  all: 0,
  user: 1,
  token: 2,
  channel: 3,
  group: 4,
  model: 5,
  userModel: 6,
  attempts: 7,
} as const;
export type DimensionNumber = (typeof DIMENSION)[keyof typeof DIMENSION];

/** Five minutes; every longer bucket of a plot is a multiple of it. */
export const SLICE = 300;
export const HOUR = 3_600;
export const DAY = 86_400;

/** Returns the dimension that a query sums by; users may only query their own. */
export function findDimension(by: UsageDimension, isOwn: boolean): DimensionNumber | undefined {
  if (!isOwn) return DIMENSION[by];
  if (by === "all") return DIMENSION.user;
  if (by === "token") return DIMENSION.token;
  return by === "model" ? DIMENSION.userModel : undefined;
}
