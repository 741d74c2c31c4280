const FIRST_MS = 1_000;
const MAX_MS = 300_000;

/**
 * Keys that wait for work: each is in the queue once, however often it is added, and is not taken again while it is
 * processed. A key that failed returns after a pause that doubles up to five minutes.
 */
export class WorkQueue {
  readonly #now: () => number;
  /** Key -> monotonic milliseconds at which it is due. */
  readonly #due = new Map<string, number>();
  readonly #failures = new Map<string, number>();
  readonly #running = new Set<string>();
  #wake: (() => void) | undefined;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Adds a key; for a key that is already waiting, the earlier time wins. */
  add(key: string, delayMs = 0): void {
    const at = this.#now() + delayMs;
    const planned = this.#due.get(key);
    if (planned !== undefined && planned <= at) return;
    this.#due.set(key, at);
    this.#wake?.();
  }

  /** Returns at most `count` keys that are due; the caller reports each with `done` or `failed`. */
  take(count: number): string[] {
    const now = this.#now();
    const taken: string[] = [];
    for (const [key, at] of this.#due) {
      if (taken.length === count) break;
      if (at > now || this.#running.has(key)) continue;
      this.#due.delete(key);
      this.#running.add(key);
      taken.push(key);
    }
    return taken;
  }

  done(key: string): void {
    this.#running.delete(key);
    this.#failures.delete(key);
  }

  failed(key: string): void {
    this.#running.delete(key);
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    this.add(key, Math.min(MAX_MS, FIRST_MS * 2 ** failures));
  }

  /** True if a key is being processed or is due. */
  get isBusy(): boolean {
    return this.#running.size > 0 || this.waitMs === 0;
  }

  /** Milliseconds until a key is due; undefined if none is waiting. */
  get waitMs(): number | undefined {
    const times = [...this.#due].flatMap(([key, at]) => (this.#running.has(key) ? [] : [at]));
    return times.length === 0 ? undefined : Math.max(0, Math.min(...times) - this.#now());
  }

  /** Resolves when a key is due or was added, or when the signal aborts. */
  async wait(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const { waitMs } = this;
    const timer = waitMs === undefined ? undefined : setTimeout(resolve, waitMs);
    this.#wake = resolve;
    signal.addEventListener("abort", () => resolve(), { once: true });
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      this.#wake = undefined;
    }
  }
}
