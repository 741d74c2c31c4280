/** How many of the resources of a namespace may be deleted at once. */
export type DeletionLimit = { readonly percent: number } | { readonly count: number };

/** Fewer are never held: two of three is how people tidy up. */
const ALWAYS = 2;
const WINDOW_MS = 600_000;

/**
 * Holds deletions back when too many come together: a folder that vanished from Git, a list that an API server answered
 * empty. What was deleted within the last ten minutes counts.
 */
export class DeletionGuard {
  readonly #limit: DeletionLimit;
  readonly #now: () => number;
  readonly #done: { readonly namespace: string; readonly at: number; readonly count: number }[] = [];

  constructor(limit: DeletionLimit, now: () => number = () => performance.now()) {
    this.#limit = limit;
    this.#now = now;
  }

  /** `total` are all that the namespace still owns, the pending ones included. */
  isHeld(namespace: string, pending: number, total: number): boolean {
    const recent = this.#recent(namespace);
    const count = pending + recent;
    if (pending === 0 || count <= ALWAYS) return false;
    return count > ("count" in this.#limit ? this.#limit.count : ((total + recent) * this.#limit.percent) / 100);
  }

  deleted(namespace: string, count: number): void {
    if (count > 0) this.#done.push({ namespace, count, at: this.#now() });
  }

  #recent(namespace: string): number {
    const since = this.#now() - WINDOW_MS;
    while ((this.#done[0]?.at ?? since) < since) this.#done.shift();
    return this.#done.filter((one) => one.namespace === namespace).reduce((sum, { count }) => sum + count, 0);
  }
}
