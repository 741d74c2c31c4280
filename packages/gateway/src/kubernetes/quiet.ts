/** Longest wait for continuing deletions, in settle times. */
const MOST = 20;

interface Burst {
  readonly first: number;
  readonly last: number;
}

/** Waits until no more deletions of a namespace arrive, because only then is their number known. */
export class Quiet {
  readonly #settleMs: number;
  readonly #now: () => number;
  readonly #bursts = new Map<string, Burst>();

  constructor(settleMs: number, now: () => number = () => performance.now()) {
    this.#settleMs = settleMs;
    this.#now = now;
  }

  deletion(namespace: string): void {
    const now = this.#now();
    const burst = this.#bursts.get(namespace);
    const isNew = !burst || now - burst.last > this.#settleMs;
    this.#bursts.set(namespace, { first: isNew ? now : burst.first, last: now });
  }

  /** Returns the milliseconds to wait; 0 = the deletions may be carried out. */
  waitMs(namespace: string): number {
    const burst = this.#bursts.get(namespace);
    if (!burst) return 0;
    const until = Math.min(burst.last + this.#settleMs, burst.first + MOST * this.#settleMs);
    return Math.max(0, until - this.#now());
  }
}
