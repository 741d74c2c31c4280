import type { Generated } from "kysely";

/**
 * - `creating`: the row and perhaps its deposit exist, the upstream is not known to have the batch
 * - `open`: the upstream works on it
 * - `ended`: the upstream has finished, nothing is booked yet
 * - `settled`: booked, the deposit is closed
 * - `refused`: it never ran
 * - `stuck`: its results cannot be read, a person decides
 */
export type BatchPhase = "creating" | "open" | "ended" | "settled" | "refused" | "stuck";

/** The ids that a client gave the items of a batch, apart from its row because they may be long. */
export interface BatchIdTable {
  batch_id: string;
  /** Base64 of 8 bytes for each id. */
  hashes: string;
}

/** A batch of a client; file ids are those of the gateway. */
export interface BatchTable {
  id: string;
  /** The protocol in which the client sees it. */
  dialect: string;
  user_id: number;
  token_id: number;
  group: string;
  channel_id: number;
  /** Start of the hash of the upstream key, because positions of keys change. */
  key_mark: string;
  /** "" until the upstream has answered. */
  upstream_id: string;
  /** The ledger rows have this id. */
  request_id: string;
  endpoint: string;
  /** JSON: model -> upstream's name, number of items, estimate. */
  models: string;
  input_file_id: string;
  output_file_id: string;
  error_file_id: string;
  phase: BatchPhase;
  /** JSON: the last answer of the upstream about the batch. */
  wire: string;
  total: number;
  succeeded: number;
  failed: number;
  expired: number;
  cancelled: number;
  deposit: number;
  charged: number;
  /** What its answers would have cost outside of a batch, less `charged`. */
  saved: number;
  /** JSON: the prices of the creation. */
  terms: string;
  /** JSON: what the client stored with it. */
  metadata: string;
  /** What the batch is for, as in `logs`. */
  tags: Generated<string>;
  end_user: Generated<string>;
  idempotency_key: string | null;
  body_hash: string;
  /** Code of the last failure; "" = none. */
  error: string;
  created_at: number;
  /** 0 = never, as with the next times. */
  expires_at: number;
  ended_at: number;
  settled_at: number;
  deleted_at: number;
  /** Epoch milliseconds, like the next. */
  next_poll_at: number;
  polled_at: number;
  polls: number;
  /** Polls or readings of results that failed in a row. */
  failures: number;
  revision: number;
}
