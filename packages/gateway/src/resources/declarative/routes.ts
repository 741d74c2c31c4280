import { declarativeApply, declarativeExport, declarativeManaged, declarativePlan } from "@fairway/wire";
import { implement, type Call, type Route } from "../../http/endpoint.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import type { Documents, Writer } from "./documents.ts";
import { withOwnership } from "./guard.ts";

/** Adds the routes of documents, and protects what documents own from all other routes. */
export function withDeclarative(
  routes: readonly Route[],
  { documents, clock }: { readonly documents: Documents; readonly clock: Clock },
): Route[] {
  return [
    ...withOwnership(routes, { ...documents.stores, clock }),
    implement(declarativePlan, (call) => documents.plan(readApplyRequest(call), toWriter(call))),
    implement(declarativeApply, (call) => documents.apply(readApplyRequest(call), toWriter(call))),
    implement(declarativeExport, (call) => {
      const { kind, ids: areNumbered } = call.query;
      return documents.export({ kind, areNumbered }, toWriter(call));
    }),
    implement(declarativeManaged, async () =>
      (await documents.stores.ownership.all()).map(({ kind, name, resource_id, owner, fields, overrideUntil = 0 }) => ({
        kind,
        name,
        resource_id,
        owner,
        fields: [...fields],
        override_until: overrideUntil > seconds(clock) ? overrideUntil : 0,
      })),
    ),
  ];
}

function readApplyRequest({ body }: Call<typeof declarativePlan>) {
  const { manager, documents, prune = false, force = false, remove: removed = [] } = body;
  return { manager, documents, prune, force, removed };
}

function toWriter({ caller, context }: Pick<Call<typeof declarativePlan>, "caller" | "context">): Writer {
  return { userId: caller.userId, username: caller.username, ip: context.ip };
}
