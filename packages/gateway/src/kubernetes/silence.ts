import type { Logger } from "../observability/log.ts";
import { isUnanswered } from "./client/api.ts";

/** Longer than the longest pause between two tries of a watch, so that one outage is one line. */
const QUIET_MS = 120_000;

/** Writes one line for all calls that fail while the API server is away. */
export class Silence {
  readonly #log: Logger;
  readonly #now: () => number;
  #failedAt = Number.NEGATIVE_INFINITY;

  constructor(log: Logger, now: () => number = () => performance.now()) {
    this.#log = log;
    this.#now = now;
  }

  /** Returns true if the API server is away; the caller then writes no line of its own. */
  covers(error: unknown): boolean {
    if (!isUnanswered(error)) return false;
    const now = this.#now();
    if (now - this.#failedAt > QUIET_MS)
      this.#log.warn("the Kubernetes API server does not answer; the last known state stays, and events wait", {
        error,
      });
    this.#failedAt = now;
    return true;
  }
}
