import type { Logger } from "../observability/log.ts";
import type { DeletionGuard } from "./deletion-guard.ts";
import type { Events } from "./events.ts";
import type { GatewaySide } from "./gateway-side.ts";
import { inParallel } from "./in-parallel.ts";
import type { Publisher } from "./publisher.ts";
import { ANNOTATION, findAnnotation, hasFinalizer, type Resource } from "./resources.ts";
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
  /** Namespaces with held deletions of vanished resources, and their number. */
  readonly #held = new Map<string, number>();

  constructor(deps: DeletionDeps) {
    this.#deps = deps;
  }

  /** Removes resources with a deletion time, which wait for their finalizer. */
  async remove(namespace: string, items: readonly Item[], failed: (item: Item, error: unknown) => void): Promise<void> {
    if (items.length === 0) return;
    const { store, gateway, guard } = this.#deps;
    try {
      const owned = await gateway.owned(namespace);
      const places = new Set(owned.map(({ kind, name }) => `${kind}/${name}`));
      const isOwned = ({ kind, name }: Resource) => places.has(`${kind}/${name}`);
      const pending = store.deleting(namespace).filter((one) => hasFinalizer(one) && isOwned(one) && !isConfirmed(one));
      const isHeld = guard.isHeld(
        namespace,
        pending.length + this.#listVanished(namespace, owned).length,
        owned.length,
      );
      const waiting = items.filter(({ resource }) => isHeld && isOwned(resource) && !isConfirmed(resource));
      const ready = items.filter((item) => !waiting.includes(item));
      await inParallel(waiting, ({ resource }) =>
        this.#deps.publisher.status(resource, { synced: held(pending.length, owned.length) }, this.#deps.signal),
      );
      await this.#delete(namespace, ready, isOwned, failed);
    } catch (error) {
      for (const item of items) failed(item, error);
    }
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
        own.map(({ resource }) => resource),
      );
      // Confirmed deletions are no reason to hold later ones.
      guard.deleted(namespace, own.filter(({ resource }) => !isConfirmed(resource)).length);
    }
    await inParallel(items, async (item) => {
      try {
        events.add(item.resource, "Deleted", "Removed from the gateway by its deletion policy.");
        if (!(await publisher.removeFinalizer(item.resource, signal)))
          failed(item, new Error("the resource changed while its finalizer was removed"));
      } catch (error) {
        failed(item, error);
      }
    });
  }

  /** Removes objects that the namespace owns in the gateway and that no resource describes any more. */
  async sweep(namespace: string): Promise<void> {
    const { store, gateway, guard, log } = this.#deps;
    if (!store.isSynced(namespace)) return;
    const owned = await gateway.owned(namespace);
    const vanished = this.#listVanished(namespace, owned);
    if (vanished.length === 0) return void this.#held.delete(namespace);
    if (!guard.isHeld(namespace, vanished.length, owned.length)) {
      await gateway.remove(namespace, vanished);
      guard.deleted(namespace, vanished.length);
      this.#held.delete(namespace);
      return;
    }
    if (this.#held.get(namespace) === vanished.length) return;
    this.#held.set(namespace, vanished.length);
    log.error("too many resources vanished at once: what they described stays until they are back", {
      namespace,
      vanished: vanished.length,
      total: owned.length,
      cure: "create them again, or let them go with a higher FAIRWAY_KUBERNETES_MAX_DELETIONS",
    });
  }

  #listVanished(namespace: string, owned: Awaited<ReturnType<GatewaySide["owned"]>>) {
    return owned.filter(({ kind, name }) => !this.#deps.store.get(`${kind}/${namespace}/${name}`));
  }
}

function isConfirmed(resource: Resource): boolean {
  return findAnnotation(resource, ANNOTATION.confirm) === "true";
}
