import type { ResourceKind } from "@fairway/wire";
import type { KubeObject } from "./client/api.ts";
import {
  buildResourceKey,
  getGeneration,
  isDeleting,
  KINDS,
  listOwnAnnotations,
  listSecretRefs,
  parseDocument,
  type Resource,
} from "./resources.ts";

interface Entry {
  readonly resource: Resource;
  /** Changes with everything that affects a reconcile, but not with the status. */
  readonly signature: string;
  readonly secrets: ReadonlySet<string>;
  readonly written: string | undefined;
}

/** The resources in the last version that the API server sent. */
export class ResourceStore {
  readonly #entries = new Map<string, Entry>();
  readonly #synced = new Map<string, Set<ResourceKind>>();

  get(key: string): Resource | undefined {
    return this.#entries.get(key)?.resource;
  }

  /** Stores a resource; returns true if there is something to reconcile. */
  set(place: Omit<Resource, "object">, object: KubeObject | undefined): boolean {
    const key = buildResourceKey(place);
    if (!object) return this.#entries.delete(key);
    const resource = { ...place, object: withoutCopies(object) };
    const signature = buildSignature(resource);
    const before = this.#entries.get(key);
    // Most changes are of the gateway's own status, which contains nothing new.
    if (before?.signature === signature) {
      this.#entries.set(key, { ...before, resource });
      return false;
    }
    const { document } = parseDocument(resource);
    const secrets = new Set(document ? listSecretRefs(document).map(({ name }) => name) : []);
    const written = document?.kind === "Token" ? document.spec.writeSecretTo?.name : undefined;
    this.#entries.set(key, { resource, signature, secrets, written });
    return true;
  }

  list(namespace: string): Resource[] {
    return this.#in(namespace).map(({ resource }) => resource);
  }

  listKeys(namespace: string): string[] {
    return this.list(namespace).map(buildResourceKey);
  }

  /** Returns the keys of resources that read or write the Secret. */
  keysWithSecret(namespace: string, secret: string): string[] {
    return this.#in(namespace).flatMap(({ resource, secrets, written }) =>
      written === secret || secrets.has(secret) ? [buildResourceKey(resource)] : [],
    );
  }

  /** Returns the keys of resources that read any Secret. */
  keysWithSecrets(namespace: string): string[] {
    return this.#in(namespace).flatMap(({ resource, secrets }) =>
      secrets.size > 0 ? [buildResourceKey(resource)] : [],
    );
  }

  deleting(namespace: string): Resource[] {
    return this.#in(namespace).flatMap(({ resource }) => (isDeleting(resource) ? [resource] : []));
  }

  markSynced(namespace: string, kind: ResourceKind): void {
    const kinds = this.#synced.get(namespace) ?? new Set();
    this.#synced.set(namespace, kinds.add(kind));
  }

  /** True if all kinds were listed: then a missing resource does not exist. */
  isSynced(namespace: string): boolean {
    return this.#synced.get(namespace)?.size === KINDS.length;
  }

  #in(namespace: string): Entry[] {
    return [...this.#entries.values()].filter(({ resource }) => resource.namespace === namespace);
  }
}

/**
 * Removes the API server's record of the writer of each field, and kubectl's copy of the resource: both are larger than
 * the resource, and no code reads them.
 */
function withoutCopies({ metadata, spec, status }: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion, generation, deletionTimestamp, finalizers } = metadata;
  const annotations = Object.fromEntries(listOwnAnnotations(metadata.annotations));
  const known = { name, namespace, uid, resourceVersion, generation, deletionTimestamp, finalizers };
  const given = Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined));
  return { metadata: { ...given, name, annotations }, spec, status };
}

function buildSignature(resource: Resource): string {
  const annotations = Object.fromEntries(listOwnAnnotations(resource.object.metadata.annotations).toSorted(byName));
  return JSON.stringify([resource.object.metadata.uid, getGeneration(resource), isDeleting(resource), annotations]);
}

function byName([a]: [string, string], [b]: [string, string]): number {
  return a < b ? -1 : 1;
}
