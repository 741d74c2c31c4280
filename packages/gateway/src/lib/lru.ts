/**
 * A map that forgets what was not asked for lately: it keeps at least the half of its capacity that was asked for last,
 * and never more than its capacity. Two generations: to ask for what is young changes nothing, where moving an entry to
 * the end of one map with each lookup would rebuild that map again and again.
 */
export class Lru<K, V> {
  readonly #generation: number;
  #young = new Map<K, V>();
  #old = new Map<K, V>();

  constructor(capacity: number) {
    this.#generation = Math.max(1, Math.floor(capacity / 2));
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  get(key: K): V | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: K, value: V): void {
    this.#old.delete(key);
    this.#young.set(key, value);
    if (this.#young.size <= this.#generation) return;
    this.#young.delete(key);
    this.#old = this.#young;
    this.#young = new Map([[key, value]]);
  }

  delete(key: K): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
  }

  /** Those of the older generation first. */
  *entries(): IterableIterator<[K, V]> {
    yield* this.#old;
    yield* this.#young;
  }
}
