import {
  DECLARATIVE_VERSION,
  declarativeApply,
  declarativeExport,
  declarativeManaged,
  declarativePlan,
} from "@fairway/wire";
import { implement, type Call, type Route } from "../../http/endpoint.ts";
import type { ProviderAdapter } from "../../providers/core/types.ts";
import { channelKind } from "./channel-kind.ts";
import { withOwnership } from "./guard.ts";
import type { Kind } from "./kinds.ts";
import { optionKind } from "./option-kind.ts";
import { reconcile } from "./planner.ts";
import type { SecretSources } from "./secret-sources.ts";
import { createStores, inOneTransaction, type StoreDeps, type Stores } from "./stores.ts";
import { tokenKind } from "./token-kind.ts";

export interface DeclarativeDeps extends StoreDeps {
  readonly providers: readonly ProviderAdapter[];
  readonly secrets: SecretSources;
}

type Caller = Pick<Call<typeof declarativePlan>, "caller" | "context">;

/** The routes with those of documents, and with what documents own locked for all others. */
export function withDeclarative(routes: readonly Route[], deps: DeclarativeDeps): Route[] {
  const stores = createStores(deps);
  const inTurn = oneAfterTheOther();
  const run = (call: Call<typeof declarativePlan>, on: Stores, isApplied: boolean) => {
    const { manager, documents, prune = false, force = false } = call.body;
    const wanted = { manager, documents, prune, force };
    return reconcile({ ...deps, kinds: kindsOn(on, deps, call), ownership: on.ownership }, wanted, isApplied);
  };
  return [
    ...withOwnership(routes, { ...stores, clock: deps.clock }),
    implement(declarativePlan, (call) => run(call, stores, false)),
    implement(declarativeApply, (call) => inTurn(() => inOneTransaction(deps, (on) => run(call, on, true)))),
    implement(declarativeExport, async (call) => {
      const kinds = Object.values(kindsOn(stores, deps, call));
      const documents = [];
      for (const kind of kinds.filter((one) => ["", one.kind].includes(call.query.kind))) {
        for (const { name, spec } of await kind.export()) {
          documents.push({ apiVersion: DECLARATIVE_VERSION, kind: kind.kind, metadata: { name }, spec });
        }
      }
      return documents;
    }),
    implement(declarativeManaged, async () =>
      (await stores.ownership.all()).map(({ kind, name, resource_id, owner, fields }) => ({
        kind,
        name,
        resource_id,
        owner,
        fields: [...fields],
      })),
    ),
  ];
}

/** Those who wait for their turn hold no connection of the pool meanwhile: all others would wait with them. */
function oneAfterTheOther(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.then(work, work);
    last = turn;
    return turn;
  };
}

function kindsOn(
  stores: Stores,
  { providers, optionDefaults: defaults }: DeclarativeDeps,
  { caller, context }: Caller,
): Readonly<Record<string, Kind<unknown>>> {
  const writer = { userId: caller.userId, username: caller.username, ip: context.ip };
  const all = [
    channelKind({ ...stores, providers }),
    optionKind({ ...stores, defaults, writer }),
    tokenKind(stores),
  ] as readonly Kind<unknown>[];
  return Object.fromEntries(all.map((kind) => [kind.kind, kind]));
}
