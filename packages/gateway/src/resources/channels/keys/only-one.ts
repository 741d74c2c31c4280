import { Refusal } from "../../../lib/refusal.ts";

export function onlyOne(field: string): Refusal {
  return new Refusal("invalid_field", { field, values: { field, reason: "is the channel's only key" } });
}
