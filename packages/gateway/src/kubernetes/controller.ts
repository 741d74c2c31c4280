import { setTimeout as pause } from "node:timers/promises";
import type { OptionValues, ResourceKind } from "@fairway/wire";
import type { Runnable } from "../lib/async/runnable.ts";
import type { Clock } from "../lib/clock.ts";
import type { Elector } from "../jobs/leader.ts";
import type { Logger } from "../observability/log.ts";
import type { Metrics } from "../observability/metrics.ts";
import type { Documents } from "../resources/declarative/documents.ts";
import type { Snapshot } from "../snapshot/types.ts";
import { connect, KubeError, type KubeApi } from "./client/api.ts";
import { DeletionGuard, type DeletionLimit } from "./deletion-guard.ts";
import { Deletions } from "./deletions.ts";
import { Events } from "./events.ts";
import { GatewayClaims } from "./gateway-claims.ts";
import { GatewaySide } from "./gateway-side.ts";
import { Publisher } from "./publisher.ts";
import { inParallel } from "./in-parallel.ts";
import { Reconciler } from "./reconciler.ts";
import { Quiet } from "./quiet.ts";
import { reflect } from "./client/reflector.ts";
import { GRANT, isForbidden } from "./refusals.ts";
import { isDeleting, buildResourceKey, KINDS, listPath } from "./resources.ts";
import { SecretAccess } from "./secret-access.ts";
import { SecretCache } from "./secrets.ts";
import { Serving, type UpstreamHealth } from "./serving.ts";
import { Silence } from "./silence.ts";
import { ResourceStore } from "./store.ts";
import type { TokenOwners } from "./token-owners.ts";
import { TokenSecrets } from "./token-secrets.ts";
import { WorkQueue } from "./work-queue.ts";

export interface ControllerSettings {
  readonly namespaces: readonly string[];
  /** A kubeconfig; undefined = the service account of the pod. */
  readonly configFile: string | undefined;
  readonly resyncSeconds: number;
  readonly drift: "enforce" | "report";
  readonly hasFinalizers: boolean;
  readonly deletions: DeletionLimit;
  /** Quiet time before deletions are carried out, so that many are detected together. */
  readonly settleMs?: number;
  /** Interval at which Ready is compared with what the gateway does. */
  readonly readyMs?: number;
  readonly startMs?: number;
  /** The only Secrets that may be read; empty = those with the label. */
  readonly secretNames: readonly string[];
  /** Secrets of this installation, which no resource may read or write. */
  readonly ownSecretNames: readonly string[];
  /** Whose keys the Token resources of a namespace may write into Secrets. */
  readonly tokenOwners: TokenOwners;
  /** Name of this gateway among those that follow the same namespaces. */
  readonly gatewayName: string;
}

export interface ControllerDeps {
  readonly settings: ControllerSettings;
  readonly documents: Documents;
  readonly snapshots: {
    current(): Pick<Snapshot, "channels"> & { readonly options: Pick<OptionValues, "KubernetesPaused" | "GroupRatio"> };
    subscribe(listener: () => void): () => void;
  };
  readonly health: UpstreamHealth;
  readonly elector: Pick<Elector, "isLeader" | "signal" | "confirm" | "subscribe">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, "resourceSynced" | "resourceGone">;
  /** Replaced by tests without an API server. */
  readonly connect?: () => Promise<KubeApi>;
}

/**
 * Delay of the start: loading the Kubernetes client for a kubeconfig blocks for 0.3 s, which must not delay the start
 * of the gateway.
 */
const START_MS = 1_000;
const SETTLE_MS = 3_000;
const BATCH = 100;
const RECONNECT_MS = 5_000;
const SWEEP = "sweep";
const READY = "ready";
/** A refused key shows within this time, however long the interval of comparisons is. */
const READY_MS = 10_000;
const AFTER_SNAPSHOT_MS = 2_000;
/** The same failure of a watch is logged at this interval. */
const REPEAT_LOG_MS = 60_000;

/** Follows the custom resources while this replica leads. */
export function createController(deps: ControllerDeps): Runnable {
  const stopping = new AbortController();
  let running: Promise<void> = Promise.resolve();
  return {
    name: "kubernetes controller",
    start() {
      deps.elector.subscribe((isLeader) => {
        if (!isLeader || stopping.signal.aborted) return;
        const signal = AbortSignal.any([stopping.signal, deps.elector.signal]);
        running = running.then(() => lead(deps, signal));
      });
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** Runs one term; returns when it ends. */
async function lead(deps: ControllerDeps, signal: AbortSignal): Promise<void> {
  const { log, settings } = deps;
  await pause(settings.startMs ?? START_MS, undefined, { signal }).catch(() => {});
  while (!signal.aborted) {
    let api: KubeApi | undefined;
    try {
      api = await (deps.connect?.() ?? connect(settings.configFile));
      log.info("following custom resources", { server: api.server, namespaces: settings.namespaces });
      await new Term(deps, api, signal).run();
    } catch (error) {
      if (!signal.aborted) log.error("the Kubernetes controller failed and starts again", { error });
      await pause(RECONNECT_MS, undefined, { signal }).catch(() => {});
    } finally {
      await api?.close();
    }
  }
}

/** Caches, queue and watches of one term of leadership. */
class Term {
  readonly #deps: ControllerDeps;
  readonly #api: KubeApi;
  readonly #signal: AbortSignal;
  readonly #store = new ResourceStore();
  readonly #queue = new WorkQueue();
  readonly #access: SecretAccess;
  readonly #secrets: SecretCache;
  readonly #deletions: Deletions;
  readonly #reconciler: Reconciler;
  readonly #publisher: Publisher;
  readonly #quiet: Quiet;
  readonly #silence: Silence;
  readonly #logged = new Map<string, number>();

  constructor(deps: ControllerDeps, api: KubeApi, signal: AbortSignal) {
    this.#deps = deps;
    this.#api = api;
    this.#signal = signal;
    const { settings, documents, clock, elector, log, metrics } = deps;
    const access = new SecretAccess({ listed: settings.secretNames, own: settings.ownSecretNames });
    this.#access = access;
    this.#secrets = new SecretCache(access);
    this.#quiet = new Quiet(settings.settleMs ?? SETTLE_MS);
    const silence = new Silence(log);
    this.#silence = silence;
    const events = new Events(api, { clock, log, silence, isBusy: () => this.#queue.isBusy }, signal);
    const gateway = new GatewaySide({ documents, clock, confirm: (tx) => elector.confirm(tx) });
    const serving = new Serving({ ...deps, findStatusInfo: (id) => gateway.findStatusInfo(id) });
    const { gatewayName } = settings;
    const listGroups = () => deps.snapshots.current().options.GroupRatio;
    const publisher = new Publisher({ api, clock, metrics, events, serving, gatewayName, listGroups });
    const claims = new GatewayClaims({ api, events, log, signal, gatewayName });
    const shared = { store: this.#store, gateway, publisher, events, log, silence, signal };
    this.#publisher = publisher;
    this.#deletions = new Deletions({ ...shared, guard: new DeletionGuard(settings.deletions) });
    const tokenSecrets = new TokenSecrets({ api, gateway, access, signal });
    const parts = { secrets: this.#secrets, deletions: this.#deletions, tokenSecrets, isPaused: () => this.#isPaused };
    this.#reconciler = new Reconciler({ ...shared, ...settings, ...parts, claims });
  }

  async run(): Promise<void> {
    const { namespaces } = this.#deps.settings;
    const followers = namespaces.flatMap((namespace) => this.#follow(namespace));
    const timer = setInterval(() => this.#resync(), this.#deps.settings.resyncSeconds * 1000);
    const readyTimer = setInterval(() => this.#compareReady(), this.#deps.settings.readyMs ?? READY_MS);
    const unsubscribe = this.#followPause();
    try {
      while (!this.#signal.aborted) {
        const keys = this.#queue.take(BATCH);
        if (keys.length > 0) await this.#work(keys);
        else await this.#queue.wait(this.#signal);
      }
    } finally {
      clearInterval(timer);
      clearInterval(readyTimer);
      unsubscribe();
      await Promise.all(followers);
    }
  }

  get #isPaused(): boolean {
    return this.#deps.snapshots.current().options.KubernetesPaused;
  }

  /** Follows the pause option; each change appears in the conditions of all resources. */
  #followPause(): () => void {
    const { snapshots, log } = this.#deps;
    let wasOn = this.#isPaused;
    if (wasOn) log.warn("custom resources are left alone: KubernetesPaused is on");
    return snapshots.subscribe(() => {
      // Many snapshots follow each other while many resources are applied.
      this.#compareReady(AFTER_SNAPSHOT_MS);
      const isOn = this.#isPaused;
      if (isOn === wasOn) return;
      wasOn = isOn;
      log.warn(
        isOn ? "custom resources are left alone: KubernetesPaused is on" : "custom resources are compared again",
      );
      this.#resync();
    });
  }

  #follow(namespace: string): Promise<void>[] {
    const shared = { api: this.#api, signal: this.#signal };
    const kinds = KINDS.map((kind) =>
      reflect({
        ...shared,
        query: { path: listPath(kind, namespace) },
        onChange: (name, object) => {
          const place = { kind, namespace, name };
          if (!this.#store.set(place, object)) return;
          if (!object || object.metadata.deletionTimestamp !== undefined) this.#quiet.deletion(namespace);
          this.#queue.add(object ? buildResourceKey(place) : `${SWEEP}/${namespace}`);
          if (!object) this.#compareNamesakes(place);
        },
        onSynced: () => {
          this.#store.markSynced(namespace, kind);
          this.#queue.add(`${SWEEP}/${namespace}`);
        },
        onError: (error) => this.#logFollowing(`${kind} resources`, namespace, error),
      }),
    );
    return [...kinds, ...this.#followSecrets(namespace)];
  }

  /** A name belongs to one namespace at a time: without that resource, one of another namespace may have its place. */
  #compareNamesakes({ kind, name }: { readonly kind: ResourceKind; readonly name: string }): void {
    for (const namespace of this.#deps.settings.namespaces) {
      const key = buildResourceKey({ kind, namespace, name });
      if (this.#store.get(key)) this.#queue.add(key);
    }
  }

  #followSecrets(namespace: string): Promise<void>[] {
    const shared = { api: this.#api, signal: this.#signal };
    const compare = (keys: readonly string[]) => {
      for (const key of keys) this.#queue.add(key);
    };
    const readable = this.#access.readable(namespace).map(({ id, query }) =>
      reflect({
        ...shared,
        query,
        onChange: (name, object) => {
          this.#secrets.change(namespace, name, object);
          compare(this.#store.keysWithSecret(namespace, name));
        },
        onSynced: () => {
          if (this.#secrets.synced(id)) compare(this.#store.keysWithSecrets(namespace));
        },
        onError: (error) => {
          this.#secrets.failed(id, error);
          this.#logFollowing("Secrets", namespace, error);
        },
      }),
    );
    const written = this.#access.written(namespace).map((query) =>
      reflect({
        ...shared,
        query,
        onChange: (name) => compare(this.#store.keysWithSecret(namespace, name)),
        onSynced: () => {},
        onError: (error) => this.#logFollowing("Secrets of tokens", namespace, error),
      }),
    );
    return [...readable, ...written];
  }

  async #work(keys: readonly string[]): Promise<void> {
    const byNamespace = Map.groupBy(keys, (key) => key.split("/")[1] ?? "");
    for (const [namespace, all] of byNamespace) {
      const own = this.#withoutEarly(namespace, all);
      const [sweep, ready] = [`${SWEEP}/${namespace}`, `${READY}/${namespace}`];
      const results = await this.#reconciler.reconcile(
        namespace,
        own.filter((key) => key !== sweep && key !== ready),
      );
      for (const [key, result] of results) {
        if (result === "done") this.#queue.done(key);
        else this.#queue.failed(key);
      }
      if (own.includes(sweep)) await this.#sweep(namespace, sweep);
      if (own.includes(ready)) await this.#refreshReady(namespace, ready);
    }
  }

  /** Returns the keys that can be processed now, and delays deletions until no more of them arrive. */
  #withoutEarly(namespace: string, keys: readonly string[]): string[] {
    const waitMs = this.#quiet.waitMs(namespace);
    if (waitMs === 0) return [...keys];
    return keys.filter((key) => {
      const resource = this.#store.get(key);
      if (resource ? !isDeleting(resource) : !key.startsWith(SWEEP)) return true;
      this.#queue.done(key);
      this.#queue.add(key, waitMs);
      return false;
    });
  }

  async #sweep(namespace: string, key: string): Promise<void> {
    try {
      if (!this.#isPaused) await this.#deletions.sweep(namespace);
      this.#queue.done(key);
    } catch (error) {
      this.#queue.failed(key);
      if (!this.#signal.aborted) this.#deps.log.warn("vanished resources could not be compared", { namespace, error });
    }
  }

  #compareReady(delayMs = 0): void {
    for (const namespace of this.#deps.settings.namespaces) this.#queue.add(`${READY}/${namespace}`, delayMs);
  }

  /** Compares Ready with what the gateway does; a failed write is repeated with the next comparison. */
  async #refreshReady(namespace: string, key: string): Promise<void> {
    const affected = this.#store.list(namespace).filter(({ kind }) => kind !== "OptionSet");
    await inParallel(affected, async (resource) => {
      try {
        await this.#publisher.refresh(resource, this.#signal);
      } catch (error) {
        this.#logFollowing("States of resources", namespace, error);
      }
    });
    this.#queue.done(key);
  }

  #resync(): void {
    for (const namespace of this.#deps.settings.namespaces) {
      for (const key of this.#store.listKeys(namespace)) this.#queue.add(key);
      this.#queue.add(`${SWEEP}/${namespace}`);
    }
  }

  #logFollowing(what: string, namespace: string, error: unknown): void {
    if (this.#silence.covers(error)) return;
    const text = `${what} ${namespace} ${error instanceof Error ? error.message : ""}`;
    const now = this.#deps.clock.now();
    if (now - (this.#logged.get(text) ?? Number.NEGATIVE_INFINITY) < REPEAT_LOG_MS) return;
    this.#logged.set(text, now);
    const cure = findCure(error);
    this.#deps.log.warn(`${what} cannot be watched; the last known state stays`, {
      namespace,
      error,
      ...(cure && { cure }),
    });
  }
}

function findCure(error: unknown): string | undefined {
  if (isForbidden(error)) return GRANT;
  if (error instanceof KubeError && error.status === 404)
    return "install the definitions: helm install fairway-crds, or fairway kube crds install";
  return undefined;
}
