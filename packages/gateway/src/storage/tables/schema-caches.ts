/** `creating` = the upstream is not known to have it; `open` = the upstream stores it. A closed cache has no row. */
export type CachePhase = "creating" | "open";

/** A prompt that an upstream caches for a user. */
export interface UpstreamCacheTable {
  /** The gateway's own id. */
  id: string;
  user_id: number;
  token_id: number;
  /** The group whose ratio applies. */
  serving_group: string;
  channel_id: number;
  /** The beginning of the hash of the key whose account stores it. */
  key_mark: string;
  /** "" until the upstream has answered. */
  upstream_id: string;
  /** As the client names it. */
  model: string;
  /** The ledger row of the creation has this id; those of the storage have it with a suffix. */
  request_id: string;
  phase: CachePhase;
  tokens: number;
  /** Quota units of one token and second, as an exact text. */
  rate: string;
  /** JSON: the last answer of the upstream, without ids. */
  wire: string;
  /** What the cache is for, as in `logs`. */
  tags: string;
  end_user: string;
  created_at: number;
  ends_at: number;
}

/** A deposit for the storage of a cache, from before it is booked until it is returned. */
export interface CacheDepositTable {
  request_id: string;
  cache_id: string;
  user_id: number;
  amount: number;
}
