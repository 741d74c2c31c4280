import { Lru } from "../../lib/lru.ts";

const CAPACITY = 10_000;

/** The keyed hashes of keys that were used lately: a keyed hash costs more than the rest of the look-up. */
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
