import { setTimeout as pause } from "node:timers/promises";
import { KubeError, GONE, type KubeApi, type KubeObject, type ListQuery } from "./api.ts";

export interface ReflectorSettings {
  readonly api: KubeApi;
  readonly query: ListQuery;
  /** Called for each change; `object` is undefined if it no longer exists. */
  readonly onChange: (name: string, object: KubeObject | undefined) => void;
  /** Called after each complete list. */
  readonly onSynced: () => void;
  /** Called when a list or watch failed, which is then repeated. */
  readonly onError: (error: unknown) => void;
  readonly signal: AbortSignal;
  readonly firstPauseMs?: number;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

/**
 * Follows all objects of a list: reads it, watches it from there, and reads it again if the server no longer has the
 * versions in between. Runs until the signal aborts.
 */
export async function reflect(settings: ReflectorSettings): Promise<void> {
  const { signal, onError, firstPauseMs = FIRST_PAUSE_MS } = settings;
  const follower = new Follower(settings);
  let pauseMs = firstPauseMs;
  while (!signal.aborted) {
    try {
      await follower.step(() => (pauseMs = firstPauseMs));
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof KubeError && error.status === GONE) {
        follower.forget();
        await pause(firstPauseMs / 5, undefined, { signal }).catch(() => {});
        continue;
      }
      onError(error);
      // The random part prevents replicas and kinds from returning at the same moment.
      await pause(pauseMs * (0.5 + Math.random()), undefined, { signal }).catch(() => {});
      pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2);
    }
  }
}

class Follower {
  readonly #settings: ReflectorSettings;
  readonly #known = new Set<string>();
  /** Undefined = the list must be read. */
  #version: string | undefined;

  constructor(settings: ReflectorSettings) {
    this.#settings = settings;
  }

  forget(): void {
    this.#version = undefined;
  }

  /** Runs one list, if needed, and one watch. */
  async step(onProgress: () => void): Promise<void> {
    const { api, query, signal, onSynced } = this.#settings;
    if (this.#version === undefined) {
      const { items, resourceVersion } = await api.list(query, signal);
      this.#replace(items);
      this.#version = resourceVersion;
      onSynced();
      onProgress();
    }
    await api.watch(
      query,
      this.#version,
      ({ type, object }) => {
        const { name, resourceVersion } = object.metadata;
        this.#version = resourceVersion ?? this.#version;
        onProgress();
        if (type !== "BOOKMARK") this.#change(name, type === "DELETED" ? undefined : object);
      },
      signal,
    );
  }

  #replace(items: readonly KubeObject[]): void {
    const names = new Set(items.map(({ metadata }) => metadata.name));
    for (const name of this.#known.difference(names)) this.#change(name, undefined);
    for (const item of items) this.#change(item.metadata.name, item);
  }

  #change(name: string, object: KubeObject | undefined): void {
    if (object) this.#known.add(name);
    else this.#known.delete(name);
    this.#settings.onChange(name, object);
  }
}
