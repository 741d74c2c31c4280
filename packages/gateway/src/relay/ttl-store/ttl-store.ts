/** Bytes that are stored for a limited time. */
export interface Entry {
  readonly body: Buffer;
  /** Epoch milliseconds. */
  readonly storedAt: number;
}

/** How long and how much is stored. */
export interface Bound {
  readonly keepMs: number;
  /** All entries together. */
  readonly maxBytes: number;
}

/** A store of entries; `memory.ts` for one process, `redis.ts` for all. */
export interface TtlStore<E extends Entry> {
  /** Undefined = unknown; may return an expired entry. Rejects when the store is unavailable. */
  find(key: string): Promise<E | undefined> | E | undefined;
  /** Not awaited; what cannot be stored is lost. */
  keep(key: string, entry: E, bound: Bound): void;
  /** Rejects when it may still be there. */
  forget(key: string): Promise<void> | void;
  /** Forgets what this process holds. */
  clear(): void;
  /** Bytes that this process holds. */
  readonly bytes: number;
}
