/**
 * A map that forgets entries that were not used recently: it retains at least the most recently used half of its
 * capacity, and never more than its capacity. It has two generations: a lookup of a young entry changes nothing, while
 * moving an entry to the back of a single map with each lookup would rebuild that map again and again.
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

  /** Yields the entries of the older generation first. */
  *entries(): IterableIterator<[K, V]> {
    yield* this.#old;
    yield* this.#young;
  }
}
