import type { Clock } from "../lib/clock.ts";
import type { Metrics } from "../observability/metrics.ts";
import { KubeError, type KubeApi } from "./client/api.ts";
import { findCondition, isNewStatus, buildStatus, type Findings } from "./conditions.ts";
import type { Events } from "./events.ts";
import { FINALIZER, getGeneration, buildResourcePath, type Resource } from "./resources.ts";

export interface PublisherDeps {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly metrics: Pick<Metrics, "resourceSynced" | "resourceGone">;
  readonly events: Events;
}

/** Writes to the resources: status, finalizers, events. */
export class Publisher {
  readonly #deps: PublisherDeps;

  constructor(deps: PublisherDeps) {
    this.#deps = deps;
  }

  async status(resource: Resource, findings: Findings, signal: AbortSignal): Promise<void> {
    const { api, clock, metrics, events } = this.#deps;
    const before = resource.object.status;
    const now = new Date(clock.now()).toISOString().replace(/\.\d+Z$/, "Z");
    const status = buildStatus(before, findings, getGeneration(resource), now);
    const isSynced = findings.synced.status === "True";
    metrics.resourceSynced({ ...resource, isSynced });
    if (!isNewStatus(before, status)) return;
    await ignoringAbsence(api.patch(`${buildResourcePath(resource)}/status`, { status }, signal));
    const known = findCondition(before, "Synced")?.message;
    if (findings.synced.status === "False" && known !== findings.synced.message)
      events.add(
        resource,
        findings.synced.reason === "DeletionHeld" ? "DeletionHeld" : "NotApplied",
        findings.synced.message,
      );
  }

  /** Adds the finalizer; returns false if the resource changed or ended meanwhile: then its next version follows. */
  async addFinalizer(resource: Resource, signal: AbortSignal): Promise<boolean> {
    const finalizers = [...(resource.object.metadata.finalizers ?? []), FINALIZER];
    return this.#finalizers(resource, finalizers, signal);
  }

  async removeFinalizer(resource: Resource, signal: AbortSignal): Promise<boolean> {
    const finalizers = (resource.object.metadata.finalizers ?? []).filter((one) => one !== FINALIZER);
    const isDone = await this.#finalizers(resource, finalizers, signal);
    if (isDone) this.#deps.metrics.resourceGone(resource);
    return isDone;
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
