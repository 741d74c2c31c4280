import { DECLARATIVE_VERSION, type TokenSpec } from "@fairway/wire";
import type { KubeApi, KubeObject } from "./client/api.ts";
import type { Verdict } from "./conditions.ts";
import type { GatewaySide } from "./gateway-side.ts";
import { isForbidden } from "./refusals.ts";
import { secretsPath, type Resource } from "./resources.ts";
import { WRITTEN_LABEL, type SecretAccess } from "./secret-access.ts";
import { ownSecret } from "./verdicts.ts";

export interface TokenSecretDeps {
  readonly api: KubeApi;
  readonly gateway: Pick<GatewaySide, "tokenKey">;
  readonly access: Pick<SecretAccess, "isOwn">;
  readonly signal: AbortSignal;
}

type SecretTarget = NonNullable<TokenSpec["writeSecretTo"]>;

const DEFAULT_KEY = "api-key";
const LABELS = { [WRITTEN_LABEL]: "true" };
const WRITTEN: Verdict = { status: "True", reason: "Written", message: "The Secret holds the key of the token." };

/** Writes the keys of tokens to the Secrets that their resources name, but never to a Secret of another program. */
export class TokenSecrets {
  readonly #deps: TokenSecretDeps;

  constructor(deps: TokenSecretDeps) {
    this.#deps = deps;
  }

  async write(resource: Resource, target: SecretTarget, tokenId: number): Promise<Verdict> {
    if (this.#deps.access.isOwn(target.name)) return failed("SecretForbidden", `${ownSecret(target.name)}.`);
    const key = await this.#deps.gateway.tokenKey(tokenId);
    if (key === undefined) return failed("TokenNotFound", "The token no longer exists in the gateway.");
    try {
      return await this.#put(resource, target, Buffer.from(key).toString("base64"));
    } catch (error) {
      if (!isForbidden(error)) throw error;
      return failed(
        "SecretForbidden",
        `${error.message}. Grant it with gitops.tokenSecrets and gitops.tokenOwners of the chart, and name the Secret in gitops.secretNames where that is set.`,
      );
    }
  }

  async #put(resource: Resource, { name, key = DEFAULT_KEY }: SecretTarget, value: string): Promise<Verdict> {
    const { api, signal } = this.#deps;
    const path = secretsPath(resource.namespace);
    const data = { [key]: value };
    const found = await this.#find(path, name);
    if (!found) {
      const ownerReferences = [buildOwnerReference(resource)];
      const metadata = { name, namespace: resource.namespace, labels: LABELS, ownerReferences };
      await api.create(path, { apiVersion: "v1", kind: "Secret", type: "Opaque", metadata, data }, signal);
      return WRITTEN;
    }
    if (!isOwned(found, resource))
      return failed(
        "SecretForeign",
        `The Secret ${name} was not made for this resource and is left alone. Name another one in spec.writeSecretTo, or delete it.`,
      );
    const { labels, resourceVersion } = found.metadata;
    if (found.data?.[key] === value && labels?.[WRITTEN_LABEL] !== undefined) return WRITTEN;
    // Removes the entries that the resource no longer names.
    const stale = Object.fromEntries(Object.keys(found.data ?? {}).map((old) => [old, null]));
    const metadata = { resourceVersion, labels: LABELS };
    await api.patch(`${path}/${name}`, { metadata, data: { ...stale, ...data } }, signal);
    return WRITTEN;
  }

  /** Finds a Secret in a list, because the Role does not permit getting a Secret by name. */
  async #find(path: string, name: string): Promise<KubeObject | undefined> {
    const { items } = await this.#deps.api.list({ path, fieldSelector: `metadata.name=${name}` }, this.#deps.signal);
    return items.find(({ metadata }) => metadata.name === name);
  }
}

/** Returns the owner reference by which Kubernetes deletes the Secret with the resource. */
function buildOwnerReference({ kind, name, object }: Resource): object {
  return { apiVersion: DECLARATIVE_VERSION, kind, name, uid: object.metadata.uid, controller: true };
}

function isOwned({ metadata }: KubeObject, { object }: Resource): boolean {
  return metadata.ownerReferences?.some(({ uid }) => uid === object.metadata.uid) === true;
}

function failed(reason: string, message: string): Verdict {
  return { status: "False", reason, message };
}
