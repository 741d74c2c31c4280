import { DECLARATIVE_VERSION, type DeclarativeChange } from "@fairway/wire";
import type { ProviderAdapter } from "../../providers/core/types.ts";
import { budgetKind } from "./budget-kind.ts";
import { channelKind } from "./channel-kind.ts";
import type { Fields, Kind } from "./kinds.ts";
import { optionKind, type OptionKindDeps } from "./option-kind.ts";
import { reconcile, type Wanted } from "./planner.ts";
import type { SecretSources } from "./secret-sources.ts";
import { createStores, inOneTransaction, type StoreDeps, type Stores } from "./stores.ts";
import { tokenKind } from "./token-kind.ts";
import { userKind, type UserKindDeps } from "./user-kind.ts";

export interface DocumentDeps extends StoreDeps {
  readonly providers: readonly ProviderAdapter[];
  readonly secrets: SecretSources;
  readonly passwords: UserKindDeps["passwords"];
}

/** The account that applies documents. */
export type Writer = OptionKindDeps["writer"];

const ID_ANNOTATION = "fairway.dev/id";

interface Exported {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: Fields;
}

export interface Documents {
  readonly stores: Stores;
  /** Computes the changes of an apply. `secrets` replaces the secret sources of the deployment. */
  plan(wanted: Wanted, writer: Writer, secrets?: SecretSources): Promise<DeclarativeChange[]>;
  /** Applies the documents in one transaction; `record` writes to it what else belongs to the change. */
  apply(wanted: Wanted, writer: Writer, more?: ApplyOptions): Promise<DeclarativeChange[]>;
  /** Exports documents; `areNumbered` adds the id of each row as an annotation. */
  export(wanted: { readonly kind: string; readonly areNumbered: boolean }, writer: Writer): Promise<Exported[]>;
}

export interface ApplyOptions {
  readonly secrets?: SecretSources;
  readonly record?: (changes: readonly DeclarativeChange[], stores: Stores) => Promise<void>;
}

/** Creates the service that compares documents of files and of a cluster with the database, and applies them. */
export function createDocuments(deps: DocumentDeps): Documents {
  const stores = createStores(deps);
  const inTurn = oneAfterTheOther();
  const on = (own: Stores, writer: Writer, secrets = deps.secrets) => ({
    ...deps,
    secrets,
    kinds: kindsOn(own, deps, writer),
    ownership: own.ownership,
  });
  return {
    stores,
    plan: (wanted, writer, secrets) => reconcile(on(stores, writer, secrets), wanted, false),
    apply: (wanted, writer, { secrets, record } = {}) =>
      inTurn(() =>
        inOneTransaction(deps, async (own) => {
          const changes = await reconcile(on(own, writer, secrets), wanted, true);
          await record?.(changes, own);
          return changes;
        }),
      ),
    async export({ kind: kindName, areNumbered }, writer) {
      const kinds = Object.values(kindsOn(stores, deps, writer));
      const documents: Exported[] = [];
      for (const kind of kinds.filter((one) => ["", one.kind].includes(kindName))) {
        for (const { name, spec, id } of await kind.export()) {
          const numbered = areNumbered && id !== undefined ? { annotations: { [ID_ANNOTATION]: String(id) } } : {};
          documents.push({ apiVersion: DECLARATIVE_VERSION, kind: kind.kind, metadata: { name, ...numbered }, spec });
        }
      }
      return documents;
    },
  };
}

/**
 * Returns a function that runs one task after the other. Waiting tasks use no connection of the pool; otherwise all
 * other calls would have to wait too.
 */
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
  { providers, optionDefaults: defaults, passwords, clock, writeLog }: DocumentDeps,
  writer: Writer,
): Readonly<Record<string, Kind<unknown>>> {
  const all = [
    channelKind({ ...stores, providers }),
    optionKind({ ...stores, defaults, writer }),
    userKind({ ...stores, defaults, writer, passwords, clock, writeLog }),
    tokenKind(stores),
    budgetKind(stores),
  ] as readonly Kind<unknown>[];
  return Object.fromEntries(all.map((kind) => [kind.kind, kind]));
}
