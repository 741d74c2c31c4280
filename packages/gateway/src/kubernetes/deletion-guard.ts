/** The maximum share or number of the resources of a kind and namespace that may be deleted at once. */
export type DeletionLimit = { readonly percent: number } | { readonly count: number };

/** So few deletions are never held: deleting two of three is normal tidying up. */
const ALWAYS = 2;
const WINDOW_MS = 600_000;

/**
 * Holds deletions back if too many come together, for example after a folder vanished from Git or an API server
 * returned an empty list. Deletions of the last ten minutes count. A group is the kind and the namespace: eight of
 * eight channels are many, also next to ten tokens that stay.
 */
export class DeletionGuard {
  readonly #limit: DeletionLimit;
  readonly #now: () => number;
  readonly #done: { readonly group: string; readonly at: number; readonly count: number }[] = [];

  constructor(limit: DeletionLimit, now: () => number = () => performance.now()) {
    this.#limit = limit;
    this.#now = now;
  }

  /**
   * Returns true if deletions must be held; `total` counts all objects of the group that are still owned, including
   * the pending ones.
   */
  isHeld(group: string, pending: number, total: number): boolean {
    const recent = this.#recent(group);
    const count = pending + recent;
    if (pending === 0 || count <= ALWAYS) return false;
    return count > ("count" in this.#limit ? this.#limit.count : ((total + recent) * this.#limit.percent) / 100);
  }

  deleted(group: string, count: number): void {
    if (count > 0) this.#done.push({ group, count, at: this.#now() });
  }

  #recent(group: string): number {
    const since = this.#now() - WINDOW_MS;
    while ((this.#done[0]?.at ?? since) < since) this.#done.shift();
    return this.#done.filter((one) => one.group === group).reduce((sum, { count }) => sum + count, 0);
  }
}
