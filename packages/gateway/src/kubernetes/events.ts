import { setTimeout as pause } from "node:timers/promises";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../observability/log.ts";
import { DECLARATIVE_VERSION } from "@fairway/wire";
import type { KubeApi } from "./client/api.ts";
import { GRANT, isForbidden } from "./refusals.ts";
import type { Resource } from "./resources.ts";

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

/**
 * Events of resources, for `kubectl describe`. They are sent one after the other when there is nothing left to
 * reconcile.
 */
export class Events {
  readonly #api: KubeApi;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #signal: AbortSignal;
  readonly #isBusy: () => boolean;
  #waiting = 0;
  #last: Promise<void> = Promise.resolve();

  constructor(
    api: KubeApi,
    { clock, log, isBusy }: { readonly clock: Clock; readonly log: Logger; readonly isBusy: () => boolean },
    signal: AbortSignal,
  ) {
    this.#isBusy = isBusy;
    this.#api = api;
    this.#clock = clock;
    this.#log = log;
    this.#signal = signal;
  }

  add(resource: Resource, reason: Reason, message: string): void {
    if (this.#waiting >= MAX_WAITING) return;
    this.#waiting += 1;
    this.#last = this.#last
      .then(() => this.#send(resource, reason, message))
      .catch((error: unknown) => {
        const cure = isForbidden(error) && { cure: GRANT };
        if (!this.#signal.aborted) this.#log.warn("an event of a resource was not stored", { error, ...cure });
      })
      .finally(() => (this.#waiting -= 1));
  }

  async #send({ kind, namespace, name, object }: Resource, reason: Reason, message: string): Promise<void> {
    while (this.#isBusy() && !this.#signal.aborted) await pause(BUSY_MS);
    if (this.#signal.aborted) return;
    const time = new Date(this.#clock.now()).toISOString().replace(/\.\d+Z$/, "Z");
    const { uid, resourceVersion } = object.metadata;
    const event = {
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
    await this.#api.create(`/api/v1/namespaces/${namespace}/events`, event, this.#signal);
  }
}
