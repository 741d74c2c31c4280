/** Bytes that are stored for a limited time. */
export interface Entry {
  readonly body: Buffer;
  /** Epoch milliseconds. */
  readonly storedAt: number;
}

/** Limits of time and size for what is stored. */
export interface Bound {
  readonly keepMs: number;
  /** Limit of all entries together. */
  readonly maxBytes: number;
}

/** A store of entries; `memory.ts` for one process, `redis.ts` for all. */
export interface TtlStore<E extends Entry> {
  /** Undefined = unknown; may return an expired entry. Rejects if the store is unavailable. */
  find(key: string): Promise<E | undefined> | E | undefined;
  /** Not awaited; an entry that cannot be stored is lost. */
  keep(key: string, entry: E, bound: Bound): void;
  /** Rejects if the entry may still be there. */
  forget(key: string): Promise<void> | void;
  /** Forgets the entries that this process holds. */
  clear(): void;
  /** Bytes that this process holds. */
  readonly bytes: number;
}
