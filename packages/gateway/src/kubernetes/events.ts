import { setTimeout as pause } from "node:timers/promises";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../observability/log.ts";
import { DECLARATIVE_VERSION } from "@fairway/wire";
import type { KubeApi } from "./client/api.ts";
import { GRANT, isForbidden } from "./refusals.ts";
import type { Resource } from "./resources.ts";
import type { Silence } from "./silence.ts";

export type Reason =
  | "Applied"
  | "DriftReverted"
  | "SecretChanged"
  | "SecretMissing"
  | "SecretNotWritten"
  | "GroupMissing"
  | "Deleted"
  | "NotApplied"
  | "Conflict"
  | "DeletionHeld";

const WARNINGS: ReadonlySet<Reason> = new Set([
  "NotApplied",
  "Conflict",
  "DeletionHeld",
  "SecretMissing",
  "SecretNotWritten",
  "GroupMissing",
]);
/** Maximum events that wait in memory for the API server; further ones are dropped. */
const MAX_WAITING = 5_000;
const MESSAGE_CHARS = 1_000;

const BUSY_MS = 100;
/** Pause before an event is sent again to an API server that is away. */
const AWAY_MS = 2_000;

export interface EventDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly silence: Silence;
  readonly isBusy: () => boolean;
  readonly awayMs?: number;
}

/**
 * Events of resources, for `kubectl describe`. They are sent one after the other when there is nothing left to
 * reconcile, and wait while the API server is away.
 */
export class Events {
  readonly #api: Pick<KubeApi, "create">;
  readonly #deps: EventDeps;
  readonly #signal: AbortSignal;
  #waiting = 0;
  #last: Promise<void> = Promise.resolve();

  constructor(api: Pick<KubeApi, "create">, deps: EventDeps, signal: AbortSignal) {
    this.#api = api;
    this.#deps = deps;
    this.#signal = signal;
  }

  add(resource: Resource, reason: Reason, message: string): void {
    if (this.#waiting >= MAX_WAITING) return;
    this.#waiting += 1;
    const event = this.#build(resource, reason, message);
    this.#last = this.#last
      .then(() => this.#send(`/api/v1/namespaces/${resource.namespace}/events`, event))
      .catch((error: unknown) => {
        const cure = isForbidden(error) && { cure: GRANT };
        if (!this.#signal.aborted) this.#deps.log.warn("an event of a resource was not stored", { error, ...cure });
      })
      .finally(() => (this.#waiting -= 1));
  }

  async #send(path: string, event: object): Promise<void> {
    const { isBusy, silence, awayMs = AWAY_MS } = this.#deps;
    while (isBusy() && !this.#signal.aborted) await pause(BUSY_MS);
    while (!this.#signal.aborted) {
      try {
        await this.#api.create(path, event, this.#signal);
        return;
      } catch (error) {
        if (!silence.covers(error)) throw error;
        await pause(awayMs, undefined, { signal: this.#signal }).catch(() => {});
      }
    }
  }

  #build({ kind, namespace, name, object }: Resource, reason: Reason, message: string): object {
    const time = new Date(this.#deps.clock.now()).toISOString().replace(/\.\d+Z$/, "Z");
    const { uid, resourceVersion } = object.metadata;
    return {
      apiVersion: "v1",
      kind: "Event",
      metadata: { generateName: `${name.slice(0, 200)}.`, namespace },
      involvedObject: { apiVersion: DECLARATIVE_VERSION, kind, namespace, name, uid, resourceVersion },
      reason,
      message: message.slice(0, MESSAGE_CHARS),
      type: WARNINGS.has(reason) ? "Warning" : "Normal",
      source: { component: "fairway" },
      firstTimestamp: time,
      lastTimestamp: time,
      count: 1,
    };
  }
}
