import { limitsFault, limitsText } from "@fairway/wire";
import { Refusal } from "../lib/refusal.ts";

/** Returns the limits of a form as the row stores them; throws `invalid_field` with the invalid member. */
export function readLimitsField(limits: Readonly<Record<string, unknown>>, field = "limits"): string | null {
  checkLimits(limits, field);
  return limitsText(limits);
}

/** Throws `invalid_field` if the value is not valid limits; `field` is the name of their field. */
export function checkLimits(limits: unknown, field: string): void {
  const fault = limitsFault(limits);
  if (!fault) return;
  const name = fault.member === "" ? field : `${field}.${fault.member}`;
  throw new Refusal("invalid_field", { field: name, values: { field: name, reason: fault.reason } });
}
