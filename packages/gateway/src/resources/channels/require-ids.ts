import { Refusal } from "../../lib/refusal.ts";

export function requireIds(ids: readonly number[] | undefined): readonly number[] {
  if (!ids || ids.length === 0) throw new Refusal("channel_selection_missing", { field: "ids" });
  return ids;
}
