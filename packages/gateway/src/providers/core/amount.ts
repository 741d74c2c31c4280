import type { JsonObject } from "../../dialects/core/types.ts";

/** Reads an amount of money that the vendor writes as a number or as text; throws if there is none. */
export function requireAmount(from: JsonObject | undefined, name: string): number {
  const value = Number(from?.[name] ?? Number.NaN);
  if (!Number.isFinite(value)) throw new Error("the upstream's answer holds no balance");
  return value;
}
