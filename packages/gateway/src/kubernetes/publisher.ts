import type { Clock } from "../lib/clock.ts";
import type { Metrics } from "../observability/metrics.ts";
import { KubeError, type KubeApi } from "./client/api.ts";
import {
  findCondition,
  isNewStatus,
  buildStatus,
  readResourceId,
  type ConditionType,
  type Findings,
} from "./conditions.ts";
import type { Events, Reason } from "./events.ts";
import {
  buildResourceKey,
  buildResourcePath,
  FINALIZER,
  getGeneration,
  isDeleting,
  type Resource,
} from "./resources.ts";
import { buildGroupsVerdict } from "./named-groups.ts";
import type { Serving } from "./serving.ts";

export interface PublisherDeps {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly metrics: Pick<Metrics, "resourceSynced" | "resourceGone">;
  readonly events: Events;
  readonly serving: Pick<Serving, "check">;
  readonly gatewayName: string;
  /** Returns the groups of the gateway as the members of an object. */
  readonly listGroups: () => Readonly<Record<string, unknown>>;
}

/** The last findings about a generation of a resource. */
interface Published {
  readonly generation: number;
  readonly findings: Findings;
}

/** Conditions with an event when they become false or get another message, and its usual reason. */
const REPORTED: Readonly<Partial<Record<ConditionType, Reason>>> = {
  Programmed: "NotApplied",
  SecretsResolved: "SecretMissing",
  SecretWritten: "SecretNotWritten",
  GroupsResolved: "GroupMissing",
};

/** Writes to the resources: status, finalizers, events. */
export class Publisher {
  readonly #deps: PublisherDeps;

  readonly #published = new Map<string, Published>();

  constructor(deps: PublisherDeps) {
    this.#deps = deps;
  }

  async status(resource: Resource, findings: Findings, signal: AbortSignal): Promise<void> {
    const { api, clock, metrics, events } = this.#deps;
    const before = resource.object.status;
    this.#published.set(buildResourceKey(resource), { generation: getGeneration(resource), findings });
    const now = new Date(clock.now()).toISOString().replace(/\.\d+Z$/, "Z");
    const groups = buildGroupsVerdict(resource, this.#deps.listGroups());
    const all = { ...(await this.#withServing(resource, findings)), groups, gateway: this.#deps.gatewayName };
    const status = buildStatus(before, all, getGeneration(resource), now);
    const isSynced = findings.synced.status === "True";
    metrics.resourceSynced({ ...resource, isSynced });
    if (!isNewStatus(before, status)) return;
    await ignoringAbsence(api.patch(`${buildResourcePath(resource)}/status`, { status }, signal));
    for (const [type, usual] of Object.entries(REPORTED) as [ConditionType, Reason][]) {
      const now = findCondition(status, type);
      if (now?.status !== "False" || now.message === findCondition(before, type)?.message) continue;
      events.add(resource, now.reason === "DeletionHeld" ? "DeletionHeld" : usual, now.message);
    }
  }

  /** Writes the status of a resource again if its object takes calls where it did not, a group came or went. */
  async refresh(resource: Resource, signal: AbortSignal): Promise<void> {
    const known = this.#published.get(buildResourceKey(resource));
    if (!known || known.generation !== getGeneration(resource) || isDeleting(resource)) return;
    await this.status(resource, { ...known.findings, isChanged: false }, signal);
  }

  async #withServing(resource: Resource, findings: Findings): Promise<Findings> {
    const channelId = findings.resourceId ?? readResourceId(resource.object.status);
    if (resource.kind !== "Channel" || channelId === undefined) return findings;
    const { isChanged = false } = findings;
    return { ...findings, serving: await this.#deps.serving.check({ resource, channelId, isChanged }) };
  }

  /** Adds the finalizer; returns false if the resource changed or ended meanwhile: then its next version follows. */
  async addFinalizer(resource: Resource, signal: AbortSignal): Promise<boolean> {
    const finalizers = [...(resource.object.metadata.finalizers ?? []), FINALIZER];
    return this.#finalizers(resource, finalizers, signal);
  }

  async removeFinalizer(resource: Resource, signal: AbortSignal): Promise<boolean> {
    const finalizers = (resource.object.metadata.finalizers ?? []).filter((one) => one !== FINALIZER);
    const isDone = await this.#finalizers(resource, finalizers, signal);
    if (isDone) this.forget(resource);
    return isDone;
  }

  /** Ends what is published about a resource that is deleted, or that another gateway has. */
  forget(resource: Resource): void {
    this.#deps.metrics.resourceGone(resource);
    this.#published.delete(buildResourceKey(resource));
  }

  async #finalizers(resource: Resource, finalizers: readonly string[], signal: AbortSignal): Promise<boolean> {
    const { resourceVersion } = resource.object.metadata;
    try {
      await this.#deps.api.patch(buildResourcePath(resource), { metadata: { finalizers, resourceVersion } }, signal);
      return true;
    } catch (error) {
      if (error instanceof KubeError && (error.status === 404 || error.status === 409)) return error.status === 404;
      throw error;
    }
  }
}

async function ignoringAbsence(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof KubeError && error.status === 404)) throw error;
  }
}
