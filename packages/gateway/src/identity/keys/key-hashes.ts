import { Lru } from "../../lib/lru.ts";

const CAPACITY = 10_000;

/** Caches the keyed hashes of recently used keys, because a keyed hash costs more than the rest of the lookup. */
export function rememberHashes(hashKey: (key: string) => string): (key: string) => string {
  const known = new Lru<string, string>(CAPACITY);
  return (key) => {
    const found = known.get(key);
    if (found !== undefined) return found;
    const hash = hashKey(key);
    known.set(key, hash);
    return hash;
  };
}
