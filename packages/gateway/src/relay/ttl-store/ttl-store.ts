/** Bytes that are kept for a time. */
export interface Entry {
  readonly body: Buffer;
  /** Epoch milliseconds. */
  readonly keptAt: number;
}

/** How long and how much is kept. */
export interface Bound {
  readonly keepMs: number;
  /** All entries together. */
  readonly maxBytes: number;
}

/** Where entries are kept; `entries-memory.ts` for one process, `entries-redis.ts` for all. */
export interface TtlStore<E extends Entry> {
  /** Undefined = unknown; may be one whose time is over. Rejects when nobody can tell now. */
  find(key: string): Promise<E | undefined> | E | undefined;
  /** Nobody waits for it; what cannot be kept is lost. */
  keep(key: string, entry: E, bound: Bound): void;
  /** Rejects when it may still be there. */
  forget(key: string): Promise<void> | void;
  /** Forgets what this process holds. */
  clear(): void;
  /** Bytes that this process holds. */
  readonly bytes: number;
}
