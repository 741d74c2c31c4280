import type { DeclarativeChange, DeclarativeDocument } from "@fairway/wire";
import type { Clock } from "../lib/clock.ts";
import { Refusal } from "../lib/refusal.ts";
import { createAuditStore } from "../resources/audit/store.ts";
import type { Documents, Writer } from "../resources/declarative/documents.ts";
import type { Owned } from "../resources/declarative/ownership.ts";
import type { RemovedDocument } from "../resources/declarative/planner.ts";
import { readReason } from "../resources/declarative/read-document.ts";
import type { SecretSources } from "../resources/declarative/secret-sources.ts";
import { findTokenKey } from "../resources/declarative/token-kind.ts";
import type { Stores } from "../resources/declarative/stores.ts";
import type { RawTransaction } from "../storage/engines/raw.ts";
import { buildManagerName, type SecretRef } from "./resources.ts";

export interface GatewayDeps {
  readonly documents: Documents;
  readonly clock: Clock;
  /** Throws if another replica leads, because a paused process must not write. */
  readonly confirm: (tx: RawTransaction) => Promise<void>;
}

/** The outcome of a document: its change, or the reason for refusing it. */
export type Outcome = { readonly change: DeclarativeChange } | { readonly refused: string };

export interface Batch {
  readonly namespace: string;
  readonly documents: readonly DeclarativeDocument[];
  /** The documents that take over objects of another manager. */
  readonly forced: ReadonlySet<DeclarativeDocument>;
  readonly findSecretValue: (ref: SecretRef) => string | undefined;
}

/** Documents that are either all applied with force or all without. */
interface Half extends Omit<Batch, "forced"> {
  readonly isForced: boolean;
}

const WRITER: Writer = { userId: 0, username: "kubernetes", ip: "" };
const AUDIT_ACTION = "kubernetesApply";

/** Writes through the planner of the management API, each batch in one transaction with its audit rows. */
export class GatewaySide {
  readonly #deps: GatewayDeps;

  constructor(deps: GatewayDeps) {
    this.#deps = deps;
  }

  async owned(namespace: string): Promise<Owned[]> {
    const manager = buildManagerName(namespace);
    return (await this.#deps.documents.stores.ownership.all()).filter(({ owner }) => owner === manager);
  }

  /** Returns the key; undefined if the token no longer exists. */
  tokenKey(id: number): Promise<string | undefined> {
    return findTokenKey(this.#deps.documents.stores, id);
  }

  /** Returns what is stored with the status of a channel; "" if there is none. */
  async findStatusInfo(channelId: number): Promise<string> {
    return (await this.#deps.documents.stores.channels.get(channelId))?.other_info ?? "";
  }

  /** Computes the outcome of an apply without writing. */
  plan(batch: Batch): Promise<Outcomes> {
    return eachHalf(batch, async (half) => {
      const refused = new Map<DeclarativeDocument, string>();
      const changes = await this.#deps.documents.plan(
        buildApplyRequest(half, refused),
        WRITER,
        buildSecretSources(half),
      );
      return collectOutcomes(half.documents, changes, refused);
    });
  }

  /** Applies documents; one that fails during the write does not prevent the others. */
  apply(batch: Batch): Promise<Outcomes> {
    return eachHalf(batch, (half) => this.#applyHalf(half));
  }

  async #applyHalf(half: Half): Promise<Outcomes> {
    const refused = new Map<DeclarativeDocument, string>();
    try {
      const changes = await this.#write(buildApplyRequest(half, refused), half.namespace, buildSecretSources(half));
      return collectOutcomes(half.documents, changes, refused);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const [only, second] = half.documents;
      if (only && !second) return new Map([[only, { refused: readReason(error) }]]);
      const outcomes = new Map<DeclarativeDocument, Outcome>();
      for (const document of half.documents) {
        for (const [one, outcome] of await this.#applyHalf({ ...half, documents: [document] }))
          outcomes.set(one, outcome);
      }
      return outcomes;
    }
  }

  /** Removes objects according to the deletion policy that was last applied; a retained one only loses its owner. */
  async remove(namespace: string, removed: readonly RemovedDocument[]): Promise<void> {
    const wanted = { manager: buildManagerName(namespace), documents: [], prune: false, force: false, removed };
    await this.#write(wanted, namespace);
  }

  #write(wanted: Parameters<Documents["apply"]>[0], namespace: string, secrets?: SecretSources) {
    return this.#deps.documents.apply(wanted, WRITER, {
      ...(secrets && { secrets }),
      record: async (changes, stores) => {
        await this.#deps.confirm(stores.database.raw);
        await this.#audit(changes, namespace, stores);
      },
    });
  }

  async #audit(changes: readonly DeclarativeChange[], namespace: string, { database }: Stores): Promise<void> {
    const store = createAuditStore({ database, clock: this.#deps.clock });
    for (const { kind, name, action, fields, resource_id: id } of changes) {
      if (action === "unchanged" || action === "conflict") continue;
      const values = (side: "old" | "new") =>
        Object.fromEntries(fields.flatMap((field) => (side in field ? [[field.field, field[side]]] : [])));
      await store.add({
        user_id: WRITER.userId,
        username: WRITER.username,
        action: AUDIT_ACTION,
        target: id > 0 ? `${kind.toLowerCase()} ${id}` : `${kind.toLowerCase()} ${name}`,
        old_value: JSON.stringify(values("old")),
        new_value: JSON.stringify({ resource: `${namespace}/${kind}/${name}`, action, ...values("new") }),
        ip: WRITER.ip,
      });
    }
  }
}

function buildApplyRequest(
  { namespace, documents, isForced }: Half,
  refused: Map<DeclarativeDocument, string>,
): Parameters<Documents["apply"]>[0] {
  const byPlace = new Map(documents.map((document) => [placeText(document), document]));
  return {
    manager: buildManagerName(namespace),
    documents,
    prune: false,
    force: isForced,
    onRefused: (document, refusal) => {
      const own = byPlace.get(placeText(document));
      if (own) refused.set(own, readReason(refusal));
    },
  };
}

type Outcomes = ReadonlyMap<DeclarativeDocument, Outcome>;

async function eachHalf(
  { documents, forced, ...batch }: Batch,
  work: (half: Half) => Promise<Outcomes>,
): Promise<Outcomes> {
  const outcomes = new Map<DeclarativeDocument, Outcome>();
  for (const isForced of [false, true]) {
    const own = documents.filter((document) => forced.has(document) === isForced);
    if (own.length === 0) continue;
    for (const [document, outcome] of await work({ ...batch, isForced, documents: own }))
      outcomes.set(document, outcome);
  }
  return outcomes;
}

function placeText({ kind, metadata }: DeclarativeDocument): string {
  return `${kind}/${metadata.name}`;
}

/** Returns sources that give no access to the gateway's own machine. */
function buildSecretSources({ findSecretValue }: Half): SecretSources {
  return { secretsDir: undefined, documentSecrets: {}, cluster: findSecretValue };
}

function collectOutcomes(
  documents: readonly DeclarativeDocument[],
  changes: readonly DeclarativeChange[],
  refused: ReadonlyMap<DeclarativeDocument, string>,
): Outcomes {
  const byPlace = new Map(changes.map((change) => [`${change.kind}/${change.name}`, change]));
  return new Map(
    documents.flatMap((document): [DeclarativeDocument, Outcome][] => {
      const reason = refused.get(document);
      if (reason !== undefined) return [[document, { refused: reason }]];
      const change = byPlace.get(placeText(document));
      return change ? [[document, { change }]] : [];
    }),
  );
}
