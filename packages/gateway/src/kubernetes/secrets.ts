import { createHash } from "node:crypto";
import type { DeclarativeDocument } from "@fairway/wire";
import { KubeError, type KubeApi, type KubeObject } from "./client/api.ts";
import { isForbidden } from "./refusals.ts";
import { secretRefsOf, secretsPath, type SecretRef } from "./resources.ts";
import type { SecretFault } from "./verdicts.ts";

/** A Secret of this type belongs to Helm; its releases are large and change with each upgrade. */
export const SECRET_SELECTOR = "type!=helm.sh/release.v1";

/** Values of the Secrets that resources refer to, and of no others. */
export class SecretCache {
  readonly #api: KubeApi;
  /** Namespace/name -> values; undefined when there is no such Secret. */
  readonly #values = new Map<string, Readonly<Record<string, string>> | undefined>();
  /** Namespace/name -> the answer of the API server; these are read again each time. */
  readonly #forbidden = new Map<string, KubeError>();

  constructor(api: KubeApi) {
    this.#api = api;
  }

  /** Reads the Secrets of the documents that are not known yet. */
  async load(namespace: string, documents: readonly DeclarativeDocument[], signal: AbortSignal): Promise<void> {
    const names = new Set(documents.flatMap(secretRefsOf).map(({ name }) => name));
    for (const name of names) {
      const place = `${namespace}/${name}`;
      if (this.#values.has(place)) continue;
      try {
        this.#values.set(place, await this.#read(namespace, name, signal));
        this.#forbidden.delete(place);
      } catch (error) {
        if (!isForbidden(error)) throw error;
        this.#forbidden.set(place, error);
      }
    }
  }

  /** Why a Secret of the document may not be read; undefined when all may. */
  refusalOf(namespace: string, document: DeclarativeDocument): KubeError | undefined {
    for (const { name } of secretRefsOf(document)) {
      const refusal = this.#forbidden.get(`${namespace}/${name}`);
      if (refusal) return refusal;
    }
    return undefined;
  }

  /** True when it is one that was asked for. */
  change(namespace: string, name: string, object: KubeObject | undefined): boolean {
    const place = `${namespace}/${name}`;
    if (!this.#forbidden.delete(place) && !this.#values.has(place)) return false;
    this.#values.set(place, object && valuesOf(object));
    return true;
  }

  valueOf(namespace: string, { name, key }: SecretRef): string | undefined {
    return this.#values.get(`${namespace}/${name}`)?.[key];
  }

  faultOf(namespace: string, { name, key }: SecretRef): SecretFault | undefined {
    const place = `${namespace}/${name}`;
    if (this.#forbidden.has(place)) return "forbidden";
    const values = this.#values.get(place);
    if (!values) return "no-secret";
    return Object.hasOwn(values, key) ? undefined : "no-key";
  }

  /** Differs when a value that the document refers to does. */
  fingerprint(namespace: string, document: DeclarativeDocument): string {
    const values = secretRefsOf(document).map((ref) => this.valueOf(namespace, ref) ?? null);
    return values.length === 0 ? "" : createHash("sha256").update(JSON.stringify(values)).digest("hex");
  }

  async #read(namespace: string, name: string, signal: AbortSignal) {
    try {
      return valuesOf(await this.#api.get(`${secretsPath(namespace)}/${name}`, signal));
    } catch (error) {
      if (error instanceof KubeError && error.status === 404) return undefined;
      throw error;
    }
  }
}

function valuesOf({ data = {} }: KubeObject): Readonly<Record<string, string>> {
  const texts = Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString("utf8")]);
  return Object.fromEntries(texts) as Record<string, string>;
}
