import type { Channel, ChannelInput } from "@fairway/wire";
import type { PlannedChange } from "../../../ui/bulk/plan.ts";

export type BulkField = "status" | "tag" | "group" | "priority" | "weight" | "model_mapping";
export type BulkPatch = Pick<ChannelInput, BulkField>;

/** One channel of a plan. */
export type BulkChange = PlannedChange<Channel, BulkPatch>;

/** The most channels of one call: few enough that progress is visible. */
const AT_ONCE = 25;

/** Builds the calls of a plan: channels with the same change share one. */
export function buildCalls(
  changes: readonly { readonly row: Pick<Channel, "id">; readonly patch: BulkPatch }[],
): { readonly ids: number[]; readonly patch: BulkPatch }[] {
  const groups = new Map<string, { ids: number[]; patch: BulkPatch }>();
  for (const { row, patch } of changes) {
    const key = JSON.stringify(patch);
    const group = groups.get(key) ?? { ids: [], patch };
    group.ids.push(row.id);
    groups.set(key, group);
  }
  return [...groups.values()].flatMap(({ ids, patch }) =>
    Array.from({ length: Math.ceil(ids.length / AT_ONCE) }, (_, part) => ({
      ids: ids.slice(part * AT_ONCE, (part + 1) * AT_ONCE),
      patch,
    })),
  );
}
