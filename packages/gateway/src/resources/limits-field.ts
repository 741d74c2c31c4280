import { limitsFault, limitsText } from "@fairway/wire";
import { Refusal } from "../lib/refusal.ts";

/** Limits of a form as their row holds them; refuses with `invalid_field` and the member that is none. */
export function readLimitsField(limits: Readonly<Record<string, unknown>>, field = "limits"): string | null {
  checkLimits(limits, field);
  return limitsText(limits);
}

/** Refuses with `invalid_field` what is no limits; `field` is where they stand. */
export function checkLimits(limits: unknown, field: string): void {
  const fault = limitsFault(limits);
  if (!fault) return;
  const name = fault.member === "" ? field : `${field}.${fault.member}`;
  throw new Refusal("invalid_field", { field: name, values: { field: name, reason: fault.reason } });
}
