import type { KubeObject, ListQuery } from "./client/api.ts";
import { secretsPath } from "./resources.ts";

/** Only a Secret with this label and the value `true` is read, unless Secrets are listed by name. */
export const READABLE_LABEL = "fairway.dev/readable";
/** Label of the Secrets that the gateway writes for tokens, so that it detects lost or changed ones. */
export const WRITTEN_LABEL = "fairway.dev/token-key";

const YES = "true";
/** Prefix of Secrets in which Helm stores all values of a release. */
const HELM_RELEASE = "sh.helm.release.v1.";
/** Types of credentials of the cluster itself, which no provider accepts. */
const FORBIDDEN_TYPES: ReadonlySet<string> = new Set([
  "helm.sh/release.v1",
  "kubernetes.io/service-account-token",
  "bootstrap.kubernetes.io/token",
]);

export interface SecretRules {
  /** The only Secrets that may be read; empty = those with the label. */
  readonly listed: readonly string[];
  /** Secrets of this installation, which no resource may read or write. */
  readonly own: readonly string[];
}

/** The reason why a Secret is not read, whatever the role of the service account allows. */
export type SecretRefusal = "own" | "unlisted";

/** Objects that one watch follows together. */
export interface SecretSource {
  readonly id: string;
  readonly query: ListQuery;
}

/**
 * Decides which Secrets the gateway reads for authors of custom resources. They may not read Secrets themselves, so the
 * operator names the Secrets that the gateway may read for them.
 */
export class SecretAccess {
  readonly #listed: ReadonlySet<string>;
  readonly #own: ReadonlySet<string>;

  constructor({ listed, own }: SecretRules) {
    this.#listed = new Set(listed);
    this.#own = new Set(own);
  }

  get isByLabel(): boolean {
    return this.#listed.size === 0;
  }

  /**
   * True for Secrets of this installation, in every namespace, because another installation there may use the same
   * names.
   */
  isOwn(name: string): boolean {
    return this.#own.has(name) || name.startsWith(HELM_RELEASE);
  }

  findRefusal(name: string): SecretRefusal | undefined {
    if (this.isOwn(name)) return "own";
    return this.isByLabel || this.#listed.has(name) ? undefined : "unlisted";
  }

  isReadable({ metadata, type = "" }: KubeObject): boolean {
    if (this.findRefusal(metadata.name) !== undefined || FORBIDDEN_TYPES.has(type)) return false;
    return !this.isByLabel || metadata.labels?.[READABLE_LABEL] === YES;
  }

  /** Returns the source of a readable Secret. */
  sourceId(namespace: string, name: string): string {
    return this.isByLabel ? namespace : `${namespace}/${name}`;
  }

  /** Returns the sources of the readable Secrets. */
  readable(namespace: string): SecretSource[] {
    const path = secretsPath(namespace);
    if (this.isByLabel) return [{ id: namespace, query: { path, labelSelector: `${READABLE_LABEL}=${YES}` } }];
    return [...this.#listed]
      .filter((name) => !this.isOwn(name))
      .map((name) => ({ id: `${namespace}/${name}`, query: { path, fieldSelector: `metadata.name=${name}` } }));
  }

  /**
   * Returns queries for Secrets that were written for tokens. If Secrets are listed by name, the list already includes
   * these.
   */
  written(namespace: string): ListQuery[] {
    return this.isByLabel ? [{ path: secretsPath(namespace), labelSelector: `${WRITTEN_LABEL}=${YES}` }] : [];
  }
}
