import type { Logger } from "../observability/log.ts";
import type { DeletionGuard } from "./deletion-guard.ts";
import type { Events } from "./events.ts";
import type { GatewaySide } from "./gateway-side.ts";
import { inParallel } from "./in-parallel.ts";
import type { Publisher } from "./publisher.ts";
import { ANNOTATION, findAnnotation, hasFinalizer, type Resource } from "./resources.ts";
import type { DocumentId } from "../resources/declarative/planner.ts";
import type { ResourceStore } from "./store.ts";
import { held } from "./verdicts.ts";

export interface DeletionDeps {
  readonly store: ResourceStore;
  readonly gateway: GatewaySide;
  readonly publisher: Publisher;
  readonly events: Events;
  readonly guard: DeletionGuard;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

interface Item {
  readonly key: string;
  readonly resource: Resource;
}

/** Applies deletions in the cluster to the gateway, unless there are too many at once. */
export class Deletions {
  readonly #deps: DeletionDeps;
  /** Kinds of namespaces with held deletions of vanished resources, and their number. */
  readonly #held = new Map<string, number>();

  constructor(deps: DeletionDeps) {
    this.#deps = deps;
  }

  /** Removes resources with a deletion time, which wait for their finalizer. */
  async remove(namespace: string, items: readonly Item[], failed: (item: Item, error: unknown) => void): Promise<void> {
    if (items.length === 0) return;
    const { gateway, publisher, signal } = this.#deps;
    try {
      const owned = await gateway.owned(namespace);
      const places = new Set(owned.map(({ kind, name }) => `${kind}/${name}`));
      const isOwned = ({ kind, name }: Resource) => places.has(`${kind}/${name}`);
      const holds = this.#findHolds(namespace, owned, isOwned);
      const isWaiting = ({ resource }: Item) => holds.has(resource.kind) && isOwned(resource) && !isDecided(resource);
      await inParallel(items.filter(isWaiting), ({ resource }) => {
        const { pending = 0, total = 0 } = holds.get(resource.kind) ?? {};
        return publisher.status(resource, { synced: held(resource.kind, pending, total) }, signal);
      });
      await this.#delete(
        namespace,
        items.filter((item) => !isWaiting(item)),
        isOwned,
        failed,
      );
    } catch (error) {
      for (const item of items) failed(item, error);
    }
  }

  /** Returns the kinds whose deletions are held, with the numbers that say why. */
  #findHolds(
    namespace: string,
    owned: Awaited<ReturnType<GatewaySide["owned"]>>,
    isOwned: (resource: Resource) => boolean,
  ): Map<string, { readonly pending: number; readonly total: number }> {
    const { store, guard } = this.#deps;
    const doomed = store.deleting(namespace).filter((one) => hasFinalizer(one) && isOwned(one) && !isDecided(one));
    const vanished = this.#listVanished(namespace, owned);
    const holds = new Map<string, { pending: number; total: number }>();
    for (const kind of new Set(doomed.map((one) => one.kind))) {
      const count = (all: readonly { readonly kind: string }[]) => all.filter((one) => one.kind === kind).length;
      const [pending, total] = [count(doomed) + count(vanished), count(owned)];
      if (guard.isHeld(`${namespace}/${kind}`, pending, total)) holds.set(kind, { pending, total });
    }
    return holds;
  }

  async #delete(
    namespace: string,
    items: readonly Item[],
    isOwned: (resource: Resource) => boolean,
    failed: (item: Item, error: unknown) => void,
  ): Promise<void> {
    const { gateway, publisher, events, guard, signal } = this.#deps;
    const own = items.filter(({ resource }) => isOwned(resource));
    if (own.length > 0) {
      await gateway.remove(
        namespace,
        own.map(({ resource }) => ({ kind: resource.kind, name: resource.name, isRetained: isRetained(resource) })),
      );
      // Deletions that a person has decided are no reason to hold later ones.
      for (const { resource } of own) if (!isDecided(resource)) guard.deleted(`${namespace}/${resource.kind}`, 1);
    }
    await inParallel(items, async (item) => {
      try {
        events.add(item.resource, "Deleted", describeDeletion(item.resource));
        if (!(await publisher.removeFinalizer(item.resource, signal)))
          failed(item, new Error("the resource changed while its finalizer was removed"));
      } catch (error) {
        failed(item, error);
      }
    });
  }

  /** Removes objects that the namespace owns in the gateway and that no resource describes any more. */
  async sweep(namespace: string): Promise<void> {
    const { store, gateway } = this.#deps;
    if (!store.isSynced(namespace)) return;
    const owned = await gateway.owned(namespace);
    const vanished = this.#listVanished(namespace, owned);
    const kinds = [...new Set(owned.map(({ kind }) => kind))];
    for (const kind of kinds)
      await this.#sweepKind(
        `${namespace}/${kind}`,
        vanished.filter((one) => one.kind === kind),
        owned.filter((one) => one.kind === kind).length,
      );
  }

  async #sweepKind(group: string, vanished: readonly DocumentId[], total: number): Promise<void> {
    const { gateway, guard, log } = this.#deps;
    if (vanished.length === 0) return void this.#held.delete(group);
    const [namespace = "", kind = ""] = group.split("/");
    if (!guard.isHeld(group, vanished.length, total)) {
      await gateway.remove(namespace, vanished);
      guard.deleted(group, vanished.length);
      this.#held.delete(group);
      return;
    }
    if (this.#held.get(group) === vanished.length) return;
    this.#held.set(group, vanished.length);
    log.error("too many resources vanished at once: what they described stays until they are back", {
      namespace,
      kind,
      vanished: vanished.length,
      total,
      cure: "create them again, or let them go with a higher FAIRWAY_KUBERNETES_MAX_DELETIONS",
    });
  }

  #listVanished(namespace: string, owned: Awaited<ReturnType<GatewaySide["owned"]>>) {
    return owned.filter(({ kind, name }) => !this.#deps.store.get(`${kind}/${namespace}/${name}`));
  }
}

/** True once a person has said what becomes of the object. */
function isDecided(resource: Resource): boolean {
  return isRetained(resource) || findAnnotation(resource, ANNOTATION.confirm) === "true";
}

function isRetained(resource: Resource): boolean {
  return findAnnotation(resource, ANNOTATION.keep) === "true";
}

function describeDeletion(resource: Resource): string {
  return isRetained(resource)
    ? "The resource is removed, and what it described stays in the gateway."
    : "Removed from the gateway by its deletion policy.";
}
