import {
  DECLARATIVE_VERSION,
  declarativeApply,
  declarativeExport,
  declarativeManaged,
  declarativePlan,
  type OptionDefaults,
} from "@fairway/wire";
import { implement, type Call, type Route } from "../../http/endpoint.ts";
import type { Clock } from "../../lib/clock.ts";
import type { ProviderAdapter } from "../../providers/types.ts";
import type { Database } from "../../storage/database.ts";
import type { ChannelStore } from "../channels/store.ts";
import type { OptionStore } from "../options/store.ts";
import type { TokenStore } from "../tokens/store.ts";
import { channelKind } from "./channel-kind.ts";
import { withOwnership } from "./guard.ts";
import type { Kind } from "./kinds.ts";
import { optionKind } from "./option-kind.ts";
import { createOwnershipStore } from "./ownership.ts";
import { reconcile } from "./planner.ts";
import { tokenKind } from "./token-kind.ts";

export interface DeclarativeDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly channels: ChannelStore;
  readonly tokens: TokenStore;
  readonly options: OptionStore;
  readonly defaults: OptionDefaults;
  readonly providers: readonly ProviderAdapter[];
}

/** The routes with those of documents, and with what documents own locked for all others. */
export function withDeclarative(routes: readonly Route[], deps: DeclarativeDeps): Route[] {
  const ownership = createOwnershipStore(deps);
  const kindsFor = ({ caller, context }: Pick<Call<typeof declarativePlan>, "caller" | "context">) => {
    const writer = { userId: caller.userId, username: caller.username, ip: context.ip };
    const all = [channelKind(deps), optionKind({ ...deps, writer }), tokenKind(deps)] as readonly Kind<unknown>[];
    return Object.fromEntries(all.map((kind) => [kind.kind, kind]));
  };
  const run = (call: Call<typeof declarativePlan>, isApplied: boolean) => {
    const { manager, documents, prune = false, force = false } = call.body;
    return reconcile({ kinds: kindsFor(call), ownership }, { manager, documents, prune, force }, isApplied);
  };
  return [
    ...withOwnership(routes, { database: deps.database, ownership }),
    implement(declarativePlan, (call) => run(call, false)),
    implement(declarativeApply, (call) => run(call, true)),
    implement(declarativeExport, async (call) => {
      const wanted = Object.values(kindsFor(call)).filter(({ kind }) => ["", kind].includes(call.query.kind));
      const documents = [];
      for (const kind of wanted) {
        for (const { name, spec } of await kind.export()) {
          documents.push({ apiVersion: DECLARATIVE_VERSION, kind: kind.kind, metadata: { name }, spec });
        }
      }
      return documents;
    }),
    implement(declarativeManaged, async () =>
      (await ownership.all()).map(({ deletionPolicy: _policy, ...owned }) => ({ ...owned, fields: [...owned.fields] })),
    ),
  ];
}
