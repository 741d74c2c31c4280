import { pricingExplain, pricingList, ROLE, type PricingRow } from "@fairway/wire";
import { implement, type Route } from "../../http/endpoint.ts";
import type { Snapshot } from "../../snapshot/types.ts";
import { usableGroups } from "../users/groups.ts";
import { Refusal } from "../../lib/refusal.ts";
import { explainPrice } from "./explanation.ts";
import { listPricing, selectGroupRatios, visibleTo } from "./table.ts";

export interface PricingRoutesDeps {
  readonly snapshots: { current(): Snapshot };
}

const DEFAULT_GROUP = "default";

export function pricingRoutes({ snapshots }: PricingRoutesDeps): Route[] {
  const tables = new WeakMap<Snapshot, PricingRow[]>();
  const getPricing = (snapshot: Snapshot) => {
    const known = tables.get(snapshot) ?? listPricing(snapshot);
    tables.set(snapshot, known);
    return known;
  };
  return [
    implement(pricingList, ({ caller, sibling }) => {
      const snapshot = snapshots.current();
      const usable = usableGroups(snapshot.options, caller?.group);
      const groups = new Set([...Object.keys(usable), caller?.group ?? DEFAULT_GROUP]);
      sibling("group_ratio", selectGroupRatios(snapshot.options, groups));
      sibling("usable_group", usable);
      return visibleTo(getPricing(snapshot), groups);
    }),
    implement(pricingExplain, ({ caller, query }) => {
      const snapshot = snapshots.current();
      const group = query.group || caller.group;
      const isAdmin = caller.role >= ROLE.admin;
      const mayUse = group === caller.group || Object.hasOwn(usableGroups(snapshot.options, caller.group), group);
      if (!mayUse && !(isAdmin && snapshot.prices.hasGroup(group)))
        throw new Refusal("token_group_not_permitted", { field: "group", values: { g: group } });
      // Users see no prices of models that they are not offered.
      const isOffered = snapshot.index.get(group)?.has(query.model) ?? false;
      return isAdmin || isOffered ? explainPrice(snapshot, { ...query, group }) : null;
    }),
  ];
}
