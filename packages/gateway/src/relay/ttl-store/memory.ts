import type { TtlStore, Entry } from "./ttl-store.ts";

/** Overhead of an entry in addition to its body: key, usage, the map. */
const OVERHEAD_BYTES = 512;

/** Entries of one process: the least recently used are removed if there is no space. */
export function createMemoryEntries<E extends Entry>(): TtlStore<E> {
  const entries = new Map<string, E>();
  let bytes = 0;
  const forget = (key: string) => {
    const known = entries.get(key);
    if (!known) return;
    entries.delete(key);
    bytes -= calculateSize(known);
  };
  return {
    find(key) {
      const found = entries.get(key);
      if (!found) return undefined;
      entries.delete(key);
      entries.set(key, found);
      return found;
    },
    keep(key, given, { maxBytes, keepMs }) {
      forget(key);
      if (calculateSize(given) > maxBytes) return;
      const entry = { ...given, body: withOwnMemory(given.body) };
      entries.set(key, entry);
      bytes += calculateSize(entry);
      for (const [oldest, { storedAt }] of entries) {
        if (bytes <= maxBytes && storedAt + keepMs > entry.storedAt) break;
        forget(oldest);
      }
    },
    forget,
    clear() {
      entries.clear();
      bytes = 0;
    },
    get bytes() {
      return bytes;
    },
  };
}

/** Node cuts small buffers out of blocks of 64 KiB, so a stored one would hold the whole block in memory. */
function withOwnMemory(bytes: Buffer): Buffer {
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
}

function calculateSize({ body }: Entry): number {
  return body.length + OVERHEAD_BYTES;
}
