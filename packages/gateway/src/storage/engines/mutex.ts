const HELD_TOO_LONG_MS = 30_000;

/**
 * First come, first served. `take` answers undefined when the lock was free, so that the uncontended
 * case costs no promise.
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

  /** Waiting forever would hide the mistake of using the database outside the own open transaction. */
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
