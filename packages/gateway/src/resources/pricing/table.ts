import type { OptionValues, PricingRow } from "@fairway/wire";
import type { Snapshot } from "../../snapshot/types.ts";

/**
 * Returns the price of every model that an enabled channel serves, with all groups that can reach it, ordered by model.
 */
export function listPricing(snapshot: Pick<Snapshot, "index" | "prices">): PricingRow[] {
  const groups = new Map<string, string[]>();
  for (const [group, models] of snapshot.index) {
    for (const model of models.keys()) groups.set(model, [...(groups.get(model) ?? []), group]);
  }
  return [...groups.keys()].toSorted().map((model) => {
    const price = snapshot.prices.row(model);
    return {
      model_name: model,
      quota_type: price.quotaType,
      model_ratio: price.modelRatio,
      model_price: price.modelPrice,
      owner_by: "",
      completion_ratio: price.completionRatio,
      enable_groups: (groups.get(model) ?? []).toSorted(),
      ...(price.borders && { borders: price.borders }),
    };
  });
}

/** Returns the rows and groups that a caller may see. */
export function visibleTo(rows: readonly PricingRow[], groups: ReadonlySet<string>): PricingRow[] {
  return rows.flatMap((row) => {
    const enable_groups = row.enable_groups.filter((group) => groups.has(group));
    return enable_groups.length === 0 ? [] : [{ ...row, enable_groups }];
  });
}

export function selectGroupRatios(
  options: Pick<OptionValues, "GroupRatio">,
  groups: Iterable<string>,
): Record<string, number> {
  return Object.fromEntries([...groups].map((group) => [group, Number(options.GroupRatio[group] ?? 1)]));
}
