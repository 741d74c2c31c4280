import { USAGE_SPAN_CAP, usageAll, usageSelf } from "@fairway/wire";
import { implement, type Route } from "../../http/endpoint.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { UsageStore } from "./store.ts";

export function usageRoutes({ store }: { readonly store: UsageStore }): Route[] {
  return [
    implement(usageAll, ({ query }) => {
      const period = { from: query.start_timestamp, to: query.end_timestamp };
      return query.username === "" ? store.ofAll(period) : store.ofName(query.username, period);
    }),
    implement(usageSelf, ({ query, caller }) => {
      const period = { from: query.start_timestamp, to: query.end_timestamp };
      if (period.to - period.from > USAGE_SPAN_CAP) throw new Refusal("log_span_too_long", { field: "end_timestamp" });
      return store.ofUser(caller.userId, period);
    }),
  ];
}
