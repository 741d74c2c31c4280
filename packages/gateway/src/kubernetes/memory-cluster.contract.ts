import type { KubeApi, KubeObject, ListQuery, WatchEvent } from "./client/api.ts";
import { GONE, KubeError, UnansweredError } from "./client/api.ts";

type Stored = KubeObject & { readonly metadata: { readonly namespace: string } };
interface Watcher {
  readonly query: ListQuery;
  on(event: WatchEvent): void;
  end(error?: Error): void;
}

/**
 * An in-memory version of the parts of an API server that the controller depends on: versions, generations, finalizers,
 * the status subresource, watches. `controller.contract.ts` runs the same tests against it and against a real one.
 */
export class MemoryCluster {
  readonly #objects = new Map<string, KubeObject>();
  readonly #watchers = new Set<Watcher>();
  #version = 0;
  #isAway = false;
  /** Watches from an earlier version have missed events, which this server does not store. */
  #oldest = 0;

  /** Connects a controller, which an outage reaches. */
  connect(): KubeApi {
    const api = this.direct();
    const unlessAway =
      <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
      (...args: A): Promise<R> =>
        this.#isAway ? Promise.reject(new UnansweredError(new Error("connect ECONNREFUSED"))) : call(...args);
    return {
      ...api,
      list: unlessAway(api.list),
      watch: unlessAway(api.watch),
      get: unlessAway(api.get),
      patch: unlessAway(api.patch),
      create: unlessAway(api.create),
      replace: unlessAway(api.replace),
    };
  }

  /** Connects a test, also during an outage. */
  direct(): KubeApi {
    return {
      server: "memory",
      namespace: undefined,
      list: (query) => Promise.resolve({ items: this.#listed(query), resourceVersion: String(this.#version) }),
      watch: (query, version, on, signal) => this.#watch(query, version, on, signal),
      get: (path) => Promise.try(() => this.#found(path)),
      patch: (path, body) => Promise.try(() => this.#patch(path, body as Patch)),
      create: (path, body) => Promise.try(() => this.create(path, body as KubeObject)),
      replace: (path, body) => Promise.try(() => this.#replace(path, body as KubeObject)),
      close: () => Promise.resolve(),
    };
  }

  /** Begins or ends an outage, which ends every watch. */
  setAway(isAway: boolean): void {
    this.#isAway = isAway;
    this.#oldest = this.#version;
    if (isAway) this.interrupt(new UnansweredError(new Error("the connection broke")));
  }

  /** Has no definitions, so it ignores how strict their check is to be. */
  create(target: string, body: KubeObject): KubeObject {
    const [path = ""] = target.split("?");
    const generated = (body.metadata as { readonly generateName?: string }).generateName;
    const name = generated === undefined ? body.metadata.name : `${generated}${this.#version}`;
    const full = `${path}/${name}`;
    if (this.#objects.has(full)) throw new KubeError(409, `${name} already exists`);
    const namespace = path.split("/namespaces/")[1]?.split("/")[0] ?? "";
    const metadata = { ...body.metadata, name, namespace, uid: `uid-${this.#version}`, generation: 1 };
    return this.#store(full, { ...body, metadata }, "ADDED");
  }

  remove(path: string): void {
    const object = this.#found(path);
    if ((object.metadata.finalizers ?? []).length === 0) return this.#drop(path, object);
    this.#store(
      path,
      { ...object, metadata: { ...object.metadata, deletionTimestamp: "2030-01-01T00:00:00Z" } },
      "MODIFIED",
    );
  }

  /** Ends every watch: with 410, like a server that no longer has the versions, or with a broken connection. */
  interrupt(error: Error): void {
    for (const watcher of this.#watchers) watcher.end(error);
  }

  #replace(path: string, body: KubeObject): KubeObject {
    if (body.metadata.resourceVersion !== this.#found(path).metadata.resourceVersion)
      throw new KubeError(409, "the object has been modified");
    return this.#store(path, body, "MODIFIED");
  }

  #patch(path: string, patch: Patch): KubeObject {
    const isStatus = path.endsWith("/status");
    const place = isStatus ? path.slice(0, -"/status".length) : path;
    const object = this.#found(place);
    const { resourceVersion, ...metadata } = patch.metadata ?? {};
    if (resourceVersion !== undefined && resourceVersion !== object.metadata.resourceVersion)
      throw new KubeError(409, "the object has been modified");
    if (isStatus)
      return this.#store(place, { ...object, status: { ...(object.status as object), ...patch.status } }, "MODIFIED");
    const merged = mergedWith(object, patch, metadata);
    const isFree = (merged.metadata.finalizers ?? []).length === 0;
    if (merged.metadata.deletionTimestamp !== undefined && isFree) {
      this.#drop(place, merged);
      return merged;
    }
    return this.#store(place, merged, "MODIFIED");
  }

  #store(path: string, object: KubeObject, type: WatchEvent["type"]): KubeObject {
    this.#version += 1;
    const before = this.#objects.get(path);
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#version) } };
    this.#objects.set(path, stored);
    this.#send(path, { type, object: stored }, before);
    return stored;
  }

  #drop(path: string, object: KubeObject): void {
    this.#version += 1;
    this.#objects.delete(path);
    const metadata = { ...object.metadata, resourceVersion: String(this.#version) };
    this.#send(path, { type: "DELETED", object: { ...object, metadata } });
  }

  /** Sends an event. For a watch, an object that leaves its selection is deleted, and one that enters it is added. */
  #send(path: string, event: WatchEvent, before = event.object): void {
    for (const watcher of this.#watchers) {
      if (getParentPath(path) !== watcher.query.path) continue;
      if (isSelected(watcher.query, event.object)) watcher.on(event);
      else if (isSelected(watcher.query, before)) watcher.on({ ...event, type: "DELETED" });
    }
  }

  #listed(query: ListQuery): Stored[] {
    return [...this.#objects].flatMap(([full, object]) =>
      getParentPath(full) === query.path && isSelected(query, object) ? [object as Stored] : [],
    );
  }

  #found(path: string): KubeObject {
    const object = this.#objects.get(path);
    if (!object) throw new KubeError(404, `${path} was not found`);
    return object;
  }

  #watch(query: ListQuery, version: string, on: Watcher["on"], signal: AbortSignal): Promise<void> {
    if (Number(version) < this.#oldest) return Promise.reject(new KubeError(GONE, "too old resource version"));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const watcher: Watcher = {
      query,
      on,
      end: (error) => {
        this.#watchers.delete(watcher);
        if (error) reject(error);
        else resolve();
      },
    };
    this.#watchers.add(watcher);
    signal.addEventListener("abort", () => watcher.end(), { once: true });
    return promise;
  }
}

interface Patch {
  readonly metadata?: Partial<KubeObject["metadata"]>;
  readonly spec?: object;
  readonly status?: object;
  readonly data?: Readonly<Record<string, string | null>>;
}

function mergedWith(object: KubeObject, { data, spec }: Patch, metadata: Patch["metadata"]): KubeObject {
  return {
    ...object,
    ...(data && { data: withoutNulls({ ...object.data, ...data }) }),
    ...(spec && { spec: { ...(object.spec as object), ...spec } }),
    metadata: {
      ...object.metadata,
      ...metadata,
      annotations: { ...object.metadata.annotations, ...metadata?.annotations },
      labels: withoutNulls({ ...object.metadata.labels, ...metadata?.labels }),
      generation: (object.metadata.generation ?? 1) + (spec ? 1 : 0),
    },
  };
}

/** Supports the selectors that the controller uses: one name, and one label with its value. */
function isSelected({ fieldSelector = "", labelSelector = "" }: ListQuery, { metadata }: KubeObject): boolean {
  const [, name = metadata.name] = /^metadata\.name=(.+)$/.exec(fieldSelector) ?? [];
  const [label = "", value] = labelSelector.split("=");
  return metadata.name === name && (value === undefined || metadata.labels?.[label] === value);
}

function withoutNulls(data: Readonly<Record<string, string | null>>): Record<string, string> {
  return Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null)) as Record<string, string>;
}

function getParentPath(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}
