import { Refusal } from "../../lib/refusal.ts";

/** Refuses a question that names a wrong field. */
export function refuse(field: string, reason: string): Refusal {
  return new Refusal("invalid_field", { field, values: { field, reason } });
}
