import { pricingList, type PricingRow } from "@fairway/wire";
import { implement, type Route } from "../../http/endpoint.ts";
import type { Snapshot } from "../../snapshot/types.ts";
import { usableGroups } from "../users/groups.ts";
import { pricingOf, ratiosOf, visibleTo } from "./table.ts";

export interface PricingRoutesDeps {
  readonly snapshots: { current(): Snapshot };
}

const DEFAULT_GROUP = "default";

export function pricingRoutes({ snapshots }: PricingRoutesDeps): Route[] {
  const tables = new WeakMap<Snapshot, PricingRow[]>();
  const tableOf = (snapshot: Snapshot) => {
    const known = tables.get(snapshot) ?? pricingOf(snapshot);
    tables.set(snapshot, known);
    return known;
  };
  return [
    implement(pricingList, ({ caller, sibling }) => {
      const snapshot = snapshots.current();
      const usable = usableGroups(snapshot.options, caller?.group);
      const groups = new Set([...Object.keys(usable), caller?.group ?? DEFAULT_GROUP]);
      sibling("group_ratio", ratiosOf(snapshot.options, groups));
      sibling("usable_group", usable);
      return visibleTo(tableOf(snapshot), groups);
    }),
  ];
}
