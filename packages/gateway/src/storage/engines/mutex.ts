const HELD_TOO_LONG_MS = 30_000;

/**
 * A lock that is granted in order of arrival. `take` returns undefined if the lock was free, so that the uncontended
 * case creates no promise.
 */
export class Mutex {
  #isHeld = false;
  readonly #waiting: (() => void)[] = [];

  get isHeld(): boolean {
    return this.#isHeld;
  }

  take(): Promise<void> | undefined {
    if (this.#isHeld) return this.#wait();
    this.#isHeld = true;
    return undefined;
  }

  release(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#isHeld = false;
  }

  /**
   * Waits with a limit: waiting forever would hide the mistake of using the database outside of one's own open
   * transaction.
   */
  #wait(): Promise<void> {
    return new Promise((resolve, reject) => {
      const enter = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        reject(
          new Error(
            "the SQLite connection stayed in use for 30 s: a transaction does not end, or waits for a query outside itself",
          ),
        );
      }, HELD_TOO_LONG_MS);
      this.#waiting.push(enter);
    });
  }
}
