import { createHash } from "node:crypto";
import type { DeclarativeDocument } from "@fairway/wire";
import type { KubeObject } from "./client/api.ts";
import { isForbidden } from "./refusals.ts";
import { listSecretRefs, type SecretRef } from "./resources.ts";
import type { SecretAccess } from "./secret-access.ts";
import type { SecretFault } from "./verdicts.ts";

interface SourceState {
  /** Resolves when the first list has succeeded or failed. */
  readonly asked: PromiseWithResolvers<void>;
  isSynced: boolean;
  /** The reason for having no list yet. */
  error: Error | undefined;
}

/** Values of the readable Secrets, which watches update; no Secret is requested by name. */
export class SecretCache {
  readonly #access: SecretAccess;
  readonly #values = new Map<string, Readonly<Record<string, string>>>();
  readonly #sources = new Map<string, SourceState>();

  constructor(access: SecretAccess) {
    this.#access = access;
  }

  /**
   * Waits for the first list of the Secrets that the documents refer to; throws if it failed, except for a missing
   * permission.
   */
  async load(namespace: string, documents: readonly DeclarativeDocument[], signal: AbortSignal): Promise<void> {
    const names = documents.flatMap(listSecretRefs).map(({ name }) => name);
    const readable = names.filter((name) => this.#access.findRefusal(name) === undefined);
    const ids = new Set(readable.map((name) => this.#access.sourceId(namespace, name)));
    const sources = [...ids].map((id) => this.#source(id));
    await untilAborted(Promise.all(sources.map(({ asked }) => asked.promise)), signal);
    for (const { error } of sources) if (error !== undefined && !isForbidden(error)) throw error;
  }

  /** Records a list; returns true if the objects of the source were missing before. */
  synced(id: string): boolean {
    const source = this.#source(id);
    const wasMissing = source.error !== undefined;
    source.isSynced = true;
    source.error = undefined;
    source.asked.resolve();
    return wasMissing;
  }

  /** Records a failure. After the first list, its contents remain valid. */
  failed(id: string, error: unknown): void {
    const source = this.#source(id);
    if (source.isSynced) return;
    source.error = error instanceof Error ? error : new Error(String(error));
    source.asked.resolve();
  }

  change(namespace: string, name: string, object: KubeObject | undefined): void {
    const place = `${namespace}/${name}`;
    if (object && this.#access.isReadable(object)) this.#values.set(place, decodeValues(object));
    else this.#values.delete(place);
  }

  findSecretValue(namespace: string, { name, key }: SecretRef): string | undefined {
    const values = this.#values.get(`${namespace}/${name}`);
    return values && Object.hasOwn(values, key) ? values[key] : undefined;
  }

  findSecretFault(namespace: string, { name, key }: SecretRef): SecretFault | undefined {
    const refusal = this.#access.findRefusal(name);
    if (refusal !== undefined) return refusal;
    if (isForbidden(this.#source(this.#access.sourceId(namespace, name)).error)) return "forbidden";
    const values = this.#values.get(`${namespace}/${name}`);
    if (!values) return this.#access.isByLabel ? "no-label" : "no-secret";
    return Object.hasOwn(values, key) ? undefined : "no-key";
  }

  /** Returns a text that differs if a value that the document refers to differs. */
  fingerprint(namespace: string, document: DeclarativeDocument): string {
    const values = listSecretRefs(document).map((ref) => this.findSecretValue(namespace, ref) ?? null);
    return values.length === 0 ? "" : createHash("sha256").update(JSON.stringify(values)).digest("hex");
  }

  #source(id: string): SourceState {
    const known = this.#sources.get(id);
    if (known) return known;
    const state = { asked: Promise.withResolvers<void>(), isSynced: false, error: undefined };
    this.#sources.set(id, state);
    return state;
  }
}

function decodeValues({ data = {} }: KubeObject): Readonly<Record<string, string>> {
  const texts = Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString("utf8")]);
  return Object.fromEntries(texts) as Record<string, string>;
}

async function untilAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = () => reject(signal.reason as Error);
  signal.addEventListener("abort", stop, { once: true });
  try {
    signal.throwIfAborted();
    await Promise.race([promise, work]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
