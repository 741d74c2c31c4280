import type { DeclarativeChange, DeclarativeDocument } from "@fairway/wire";
import type { Logger } from "../observability/log.ts";
import { findCondition } from "./conditions.ts";
import { decide, type Decision } from "./decide.ts";
import type { Deletions } from "./deletions.ts";
import type { Events } from "./events.ts";
import type { GatewayClaims } from "./gateway-claims.ts";
import type { Batch, GatewaySide, Outcome } from "./gateway-side.ts";
import { inParallel } from "./in-parallel.ts";
import type { Publisher } from "./publisher.ts";
import { GRANT, isForbidden } from "./refusals.ts";
import { getGeneration, buildResourceKey, type Resource } from "./resources.ts";
import type { SecretCache } from "./secrets.ts";
import type { Silence } from "./silence.ts";
import type { ResourceStore } from "./store.ts";
import type { TokenOwners } from "./token-owners.ts";
import type { TokenSecrets } from "./token-secrets.ts";
import {
  ALL_PAUSED,
  buildDriftVerdict,
  buildFindings,
  PAUSED,
  refused,
  secretsVerdict,
  UNAVAILABLE,
} from "./verdicts.ts";

export interface ReconcilerDeps {
  readonly store: ResourceStore;
  readonly secrets: SecretCache;
  readonly gateway: GatewaySide;
  readonly publisher: Publisher;
  readonly claims: GatewayClaims;
  readonly events: Events;
  readonly tokenSecrets: TokenSecrets;
  readonly deletions: Deletions;
  readonly log: Logger;
  readonly silence: Silence;
  readonly signal: AbortSignal;
  /** While true, nothing is compared and nothing is deleted. */
  readonly isPaused: () => boolean;
  readonly hasFinalizers: boolean;
  readonly tokenOwners: TokenOwners;
  /** Whether differences are written back or only reported. */
  readonly drift: "enforce" | "report";
}

interface Item {
  readonly key: string;
  readonly resource: Resource;
}

interface Wanted extends Item {
  readonly document: DeclarativeDocument;
  readonly isForced: boolean;
}

export type Result = "done" | "failed";

/** Makes the gateway match its resources; each call compares again and depends on no earlier one. */
export class Reconciler {
  readonly #deps: ReconcilerDeps;
  /** Key -> the fingerprint of what was last applied in this term. */
  readonly #applied = new Map<string, string>();

  constructor(deps: ReconcilerDeps) {
    this.#deps = deps;
  }

  /** Reconciles resources of one namespace. Returns the resources to try again. */
  async reconcile(namespace: string, keys: readonly string[]): Promise<ReadonlyMap<string, Result>> {
    const results = new Map<string, Result>(keys.map((key) => [key, "done"]));
    const failed = (item: Item, error: unknown) => {
      results.set(item.key, "failed");
      this.#logFailure(item, error);
    };
    const items = await this.#take(keys, failed);
    if (this.#deps.isPaused()) {
      await this.#pause(items, failed);
      return results;
    }
    const decided = items.map((item) => ({ item, decision: decide(item.resource, this.#deps) }));
    const deleting = decided.filter(({ decision }) => decision.act === "delete").map(({ item }) => item);
    await inParallel(decided, async ({ item, decision }) => {
      await this.#withoutDocument(item, decision).catch((error: unknown) => failed(item, error));
    });
    const wanted = await this.#withFinalizers(decided, failed);
    try {
      await this.#apply(namespace, wanted, failed);
    } catch (error) {
      await inParallel(wanted, async (item) => {
        failed(item, error);
        await this.#publish(item, { synced: UNAVAILABLE }).catch(() => {});
      });
    }
    for (const { key } of deleting) this.#applied.delete(key);
    await this.#deps.deletions.remove(namespace, deleting, failed);
    return results;
  }

  /** Returns the resources that this gateway has, and takes those that no gateway has. */
  async #take(keys: readonly string[], failed: (item: Item, error: unknown) => void): Promise<Item[]> {
    const { store, claims, publisher } = this.#deps;
    const items: Item[] = [];
    await inParallel(keys, async (key) => {
      const resource = store.get(key);
      if (!resource) return;
      if (claims.isForeign(resource)) {
        this.#applied.delete(key);
        publisher.forget(resource);
        return;
      }
      try {
        const taken = await claims.take(resource);
        if (taken) items.push({ key, resource: taken });
        else failed({ key, resource }, new Error("the resource changed while this gateway took it"));
      } catch (error) {
        failed({ key, resource }, error);
      }
    });
    return items;
  }

  /** Marks resources as paused; everything is compared again afterwards. */
  async #pause(items: readonly Item[], failed: (item: Item, error: unknown) => void): Promise<void> {
    await inParallel(items, async (item) => {
      this.#applied.delete(item.key);
      await this.#publish(item, { synced: ALL_PAUSED }).catch((error: unknown) => failed(item, error));
    });
  }

  async #withoutDocument({ resource, key }: Item, decision: Decision): Promise<void> {
    if (decision.act === "pause") await this.#publish({ resource }, { synced: PAUSED });
    else if (decision.act === "refuse")
      await this.#publish({ resource }, { synced: refused(decision.cause, decision.reason) });
    else return;
    this.#applied.delete(key);
  }

  async #withFinalizers(
    decided: readonly { readonly item: Item; readonly decision: Decision }[],
    failed: (item: Item, error: unknown) => void,
  ): Promise<Wanted[]> {
    const wanted: Wanted[] = [];
    await inParallel(decided, async ({ item, decision }) => {
      if (decision.act !== "apply") return;
      const { document, isForced, needsFinalizer } = decision;
      try {
        const isReady = !needsFinalizer || (await this.#deps.publisher.addFinalizer(item.resource, this.#deps.signal));
        if (isReady) wanted.push({ ...item, document, isForced });
        else failed(item, new Error("the resource changed while its finalizer was added"));
      } catch (error) {
        failed(item, error);
        if (!isForbidden(error)) return;
        const synced = refused("Forbidden", `${error.message}; ${GRANT}`);
        await this.#publish(item, { synced }).catch((second: unknown) => failed(item, second));
      }
    });
    return wanted;
  }

  async #apply(
    namespace: string,
    wanted: readonly Wanted[],
    failed: (item: Item, error: unknown) => void,
  ): Promise<void> {
    const { secrets, gateway, signal, drift } = this.#deps;
    const documents = wanted.map(({ document }) => document);
    await secrets.load(namespace, documents, signal);
    const known = wanted.filter((item) => this.#isKnown(item));
    const drifted = await this.#drifted(namespace, known);
    const isReported = drift === "report";
    if (isReported) for (const [item, outcome] of drifted) await this.#report(item, outcome);
    const fresh = wanted.filter((item) => !known.includes(item) || (!isReported && drifted.has(item)));
    const outcomes = await gateway.apply(this.#buildBatch(namespace, fresh));
    await inParallel(fresh, async (item) => {
      const outcome = outcomes.get(item.document);
      if (!outcome) return;
      try {
        await this.#conclude(item, outcome, drifted.has(item));
      } catch (error) {
        failed(item, error);
      }
    });
  }

  /**
   * True if the resource was applied before, so that a difference is drift. The status shows this for an earlier
   * leader.
   */
  #isKnown(item: Wanted): boolean {
    const applied = this.#applied.get(item.key);
    if (applied !== undefined || this.#deps.drift === "enforce") return applied === this.#fingerprint(item);
    const synced = findCondition(item.resource.object.status, "Programmed");
    return synced?.status === "True" && synced.observedGeneration === getGeneration(item.resource);
  }

  /** Returns the applied resources that no longer match the gateway. */
  async #drifted(namespace: string, known: readonly Wanted[]): Promise<ReadonlyMap<Wanted, Outcome>> {
    const outcomes = await this.#deps.gateway.plan(this.#buildBatch(namespace, known));
    const drifted = new Map<Wanted, Outcome>();
    for (const item of known) {
      const outcome = outcomes.get(item.document);
      if (!outcome) continue;
      if ("change" in outcome && outcome.change.action === "unchanged") await this.#conclude(item, outcome);
      else drifted.set(item, outcome);
    }
    return drifted;
  }

  #buildBatch(namespace: string, items: readonly Wanted[]): Batch {
    return {
      namespace,
      documents: items.map(({ document }) => document),
      forced: new Set(items.flatMap(({ document, isForced }) => (isForced ? [document] : []))),
      findSecretValue: (ref) => this.#deps.secrets.findSecretValue(namespace, ref),
    };
  }

  async #conclude(item: Wanted, outcome: Outcome, isDrift = false): Promise<void> {
    const { key, resource } = item;
    const secrets = this.#checkSecrets(item);
    if ("refused" in outcome) {
      this.#applied.delete(key);
      return this.#publish(item, { synced: refused("Invalid", outcome.refused), secrets });
    }
    const { change } = outcome;
    const before = this.#applied.get(key);
    if (change.action === "conflict") this.#applied.delete(key);
    else this.#applied.set(key, this.#fingerprint(item));
    const fields = change.fields.map(({ field }) => field).join(", ");
    if (isDrift) this.#deps.events.add(resource, "DriftReverted", `Changed back: ${fields}.`);
    else if (change.action === "update" && fields === "key" && before !== undefined)
      this.#deps.events.add(resource, "SecretChanged", "The key of the Secret changed and is in use.");
    else if (change.action === "create") this.#deps.events.add(resource, "Applied", "Created in the gateway.");
    else if (change.action === "update") this.#deps.events.add(resource, "Applied", `Changed: ${fields}.`);
    await this.#publish(item, { ...buildFindings(change, secrets), written: await this.#written(item, change) });
  }

  async #report(item: Wanted, outcome: Outcome): Promise<void> {
    if ("refused" in outcome || outcome.change.action === "conflict") return this.#conclude(item, outcome);
    const findings = buildFindings(outcome.change, this.#checkSecrets(item));
    const written = await this.#written(item, outcome.change);
    return this.#publish(item, { ...findings, written, drifted: buildDriftVerdict(outcome.change) });
  }

  async #written({ resource, document }: Wanted, { action, resource_id: id }: DeclarativeChange) {
    if (document.kind !== "Token" || !document.spec.writeSecretTo || action === "conflict") return undefined;
    return this.#deps.tokenSecrets.write(resource, document.spec.writeSecretTo, id);
  }

  #checkSecrets({ resource, document }: Wanted) {
    return secretsVerdict(document, (ref) => this.#deps.secrets.findSecretFault(resource.namespace, ref));
  }

  #publish({ resource }: Pick<Item, "resource">, findings: Parameters<Publisher["status"]>[1]): Promise<void> {
    return this.#deps.publisher.status(resource, findings, this.#deps.signal);
  }

  #fingerprint({ resource, document, isForced }: Wanted): string {
    const secrets = this.#deps.secrets.fingerprint(resource.namespace, document);
    return `${resource.object.metadata.uid ?? ""} ${getGeneration(resource)} ${isForced} ${secrets}`;
  }

  #logFailure({ resource }: Item, error: unknown): void {
    if (this.#deps.signal.aborted || this.#deps.silence.covers(error)) return;
    this.#deps.log.warn("a resource could not be reconciled and is tried again", {
      resource: buildResourceKey(resource),
      error,
      ...(isForbidden(error) && { cure: GRANT }),
    });
  }
}
