/** Sums of calls over an hour or a day, for one subject of one dimension. */
export interface UsageStatisticsTable {
  span: number;
  dimension: number;
  owner_id: number;
  subject: string;
  start: number;
  calls: number;
  errors: number;
  refused: number;
  quota: number;
  input_tokens: number;
  output_tokens: number;
  /** Counts of milliseconds by bucket. */
  latency: string;
  first_token: string;
}

/** The number of log rows of one user and type in an hour or a day, by the values of each facet. */
export interface FacetSumsTable {
  user_id: number;
  span: number;
  start: number;
  type: number;
  username: string;
  log_rows: number;
  /** Empty if a facet has too many values. */
  counts: string;
}

/** Sums of log rows of one type over five minutes, an hour or a day: for one model, or for all. */
export interface LogSumsTable {
  by_model: number;
  /** Empty in the sums of all rows. */
  model_name: string;
  span: number;
  start: number;
  type: number;
  log_rows: number;
  /** Empty if a facet has too many values, or if facets are not counted. */
  counts: string;
}

/** What prompt caches of vendors did in an hour, for one token at one channel and model. */
export interface CacheSumTable {
  user_id: number;
  token_id: number;
  channel_id: number;
  model: string;
  start: number;
  requests: number;
  hits: number;
  input_tokens: number;
  cached_tokens: number;
  written_tokens: number;
  saved: number;
  storage: number;
}
