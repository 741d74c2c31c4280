import { LEASE_MS, type Permit } from "../jobs/leader.ts";
import type { Clock } from "../lib/clock.ts";
import { KubeError, type KubeApi, type KubeObject } from "./client/api.ts";

export interface LeaseSettings {
  readonly api: KubeApi;
  readonly namespace: string;
  readonly name: string;
  /** Name of this replica, never reused. */
  readonly holder: string;
  readonly clock: Clock;
  readonly leaseMs?: number;
  /** Monotonic milliseconds. */
  readonly elapsed?: () => number;
}

interface LeaseSpec {
  readonly holderIdentity?: string;
  readonly leaseTransitions?: number;
  readonly acquireTime?: string;
}

const GROUP = "coordination.k8s.io";
const PATHS = `/apis/${GROUP}/v1/namespaces`;
const REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
export const LEASE_VERBS = ["create", "get", "update"] as const;

/**
 * A Lease that one replica holds. Its times are informational: it is free if no replica renewed it for its duration by
 * the monotonic clock of the observer, and the holder gives it up a third of that time earlier.
 */
export class KubernetesLease implements Permit {
  readonly #settings: LeaseSettings;
  readonly #leaseMs: number;
  readonly #elapsed: () => number;
  readonly #path: string;
  #renewedAt: number | undefined;
  /** The Lease of another replica, and the time at which this version was first observed. */
  #seen: { readonly version: string; readonly at: number } | undefined;

  constructor(settings: LeaseSettings) {
    this.#settings = settings;
    this.#leaseMs = settings.leaseMs ?? LEASE_MS;
    this.#elapsed = settings.elapsed ?? (() => performance.now());
    this.#path = `${PATHS}/${settings.namespace}/leases`;
  }

  get isHeld(): boolean {
    return this.#renewedAt !== undefined && this.#elapsed() - this.#renewedAt < (this.#leaseMs * 2) / 3;
  }

  async beat(limit: AbortSignal): Promise<void> {
    const at = this.#elapsed();
    const lease = await this.#read(limit);
    if (lease && !this.#isFree(lease, at)) {
      this.#renewedAt = undefined;
      return;
    }
    if (await this.#write(lease, limit)) this.#renewedAt = at;
  }

  async free(limit: AbortSignal): Promise<void> {
    const { api, holder } = this.#settings;
    this.#renewedAt = undefined;
    const lease = await this.#read(limit);
    if (!lease || readLeaseSpec(lease).holderIdentity !== holder) return;
    const spec = { ...readLeaseSpec(lease), holderIdentity: "", leaseDurationSeconds: 1 };
    await api.replace(this.#place, { ...lease, spec }, limit);
  }

  async release(limit: AbortSignal): Promise<void> {
    try {
      await this.free(limit);
    } finally {
      await this.#settings.api.close();
    }
  }

  get #place(): string {
    return `${this.#path}/${this.#settings.name}`;
  }

  async #read(limit: AbortSignal): Promise<KubeObject | undefined> {
    try {
      return await this.#settings.api.get(this.#place, limit);
    } catch (error) {
      if (error instanceof KubeError && error.status === 404) return undefined;
      throw error;
    }
  }

  #isFree(lease: KubeObject, at: number): boolean {
    const { holderIdentity = "" } = readLeaseSpec(lease);
    if (holderIdentity === "" || holderIdentity === this.#settings.holder) return true;
    const version = lease.metadata.resourceVersion ?? "";
    if (this.#seen?.version !== version) this.#seen = { version, at };
    return at - this.#seen.at >= this.#leaseMs;
  }

  /** Writes the Lease; returns false if another replica was faster: then the next heartbeat reads it again. */
  async #write(before: KubeObject | undefined, limit: AbortSignal): Promise<boolean> {
    const { api, name, namespace } = this.#settings;
    try {
      if (before) await api.replace(this.#place, { ...before, spec: this.#specAfter(readLeaseSpec(before)) }, limit);
      else {
        const metadata = { name, namespace, labels: { "app.kubernetes.io/name": "fairway" } };
        const spec = this.#specAfter({ leaseTransitions: -1 });
        await api.create(this.#path, { apiVersion: `${GROUP}/v1`, kind: "Lease", metadata, spec }, limit);
      }
      return true;
    } catch (error) {
      if (error instanceof KubeError && (error.status === 409 || error.status === 404)) return false;
      throw error;
    }
  }

  #specAfter({ holderIdentity, leaseTransitions = 0, acquireTime }: LeaseSpec): object {
    const { holder, clock } = this.#settings;
    const now = new Date(clock.now()).toISOString().replace("Z", "000Z");
    const isSame = holderIdentity === holder;
    return {
      holderIdentity: holder,
      leaseDurationSeconds: Math.ceil(this.#leaseMs / 1000),
      acquireTime: isSame ? (acquireTime ?? now) : now,
      renewTime: now,
      leaseTransitions: leaseTransitions + (isSame ? 0 : 1),
    };
  }
}

/** Returns the verbs on the Lease for which this account has no permission. */
export async function lackingVerbs({ api, namespace, name }: LeaseSettings, limit: AbortSignal): Promise<string[]> {
  const lacking: string[] = [];
  for (const verb of LEASE_VERBS) {
    const resourceAttributes = {
      namespace,
      verb,
      group: GROUP,
      resource: "leases",
      ...(verb !== "create" && { name }),
    };
    const review = {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      spec: { resourceAttributes },
    };
    const { status } = await api.create(REVIEWS, review, limit);
    if ((status as { readonly allowed?: boolean } | undefined)?.allowed !== true) lacking.push(verb);
  }
  return lacking;
}

function readLeaseSpec({ spec }: KubeObject): LeaseSpec {
  return (spec ?? {}) as LeaseSpec;
}
