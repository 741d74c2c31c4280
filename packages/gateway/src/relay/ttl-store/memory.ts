import type { TtlStore, Entry } from "./ttl-store.ts";

/** What an entry costs besides its body: key, usage, the map. */
const OVERHEAD_BYTES = 512;

/** Entries of one process: those that were not asked for longest leave when there is no room. */
export function createMemoryEntries<E extends Entry>(): TtlStore<E> {
  const kept = new Map<string, E>();
  let bytes = 0;
  const forget = (key: string) => {
    const known = kept.get(key);
    if (!known) return;
    kept.delete(key);
    bytes -= sizeOf(known);
  };
  return {
    find(key) {
      const found = kept.get(key);
      if (!found) return undefined;
      kept.delete(key);
      kept.set(key, found);
      return found;
    },
    keep(key, entry, { maxBytes, keepMs }) {
      forget(key);
      if (sizeOf(entry) > maxBytes) return;
      kept.set(key, entry);
      bytes += sizeOf(entry);
      for (const [oldest, { keptAt }] of kept) {
        if (bytes <= maxBytes && keptAt + keepMs > entry.keptAt) break;
        forget(oldest);
      }
    },
    forget,
    clear() {
      kept.clear();
      bytes = 0;
    },
    get bytes() {
      return bytes;
    },
  };
}

function sizeOf({ body }: Entry): number {
  return body.length + OVERHEAD_BYTES;
}
