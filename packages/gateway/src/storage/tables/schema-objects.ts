/** A file, or an upload in progress, that an upstream stores for a user. */
export interface UpstreamObjectTable {
  /** The gateway's own id, or the upstream's if answers name it. */
  id: string;
  user_id: number;
  token_id: number;
  kind: string;
  dialect: string;
  channel_id: number;
  /** The beginning of the hash of the key whose account stores it. */
  key_mark: string;
  upstream_id: string;
  name: string;
  mime: string;
  purpose: string;
  bytes: number;
  state: string;
  /** JSON. */
  facts: string;
  created_at: number;
  /** 0 = never. */
  expires_at: number;
  /** When the sweep reads the row again; 0 = never. */
  next_check_at: number;
}

/** What one user stores at upstreams. */
export interface ObjectUsageTable {
  user_id: number;
  files: number;
  bytes: number;
}
