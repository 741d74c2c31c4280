/**
 * The table of the log. Rows are sorted as the list is, and ids rise with time, so a range of ids is found by the
 * smallest and largest id of each part. Sorting by `(created_at, id)` makes `ReplacingMergeTree` keep one of two equal
 * rows, should an insert be repeated after the server has forgotten it. An operator may create the table before, with
 * another engine.
 */
export const CREATE_LOGS = `create table if not exists logs (
  id Int64 codec(DoubleDelta, ZSTD(1)),
  user_id Int64,
  created_at Int64 codec(Delta, ZSTD(1)),
  type Int64,
  content String codec(ZSTD(1)),
  username LowCardinality(String),
  token_name LowCardinality(String),
  model_name LowCardinality(String),
  quota Int64,
  prompt_tokens Int64,
  completion_tokens Int64,
  use_time Int64,
  is_stream Int64,
  channel_id Int64,
  token_id Int64,
  "group" LowCardinality(String),
  ip String codec(ZSTD(1)),
  request_id String codec(ZSTD(1)),
  other String codec(ZSTD(1)),
  actor String codec(ZSTD(1)),
  account_kind Int64,
  tags String codec(ZSTD(1)),
  end_user String codec(ZSTD(1)),
  index logs_id id type minmax granularity 1,
  index logs_request request_id type bloom_filter(0.001) granularity 1,
  index logs_user user_id type bloom_filter(0.01) granularity 1,
  index logs_token token_id type bloom_filter(0.01) granularity 1,
  index logs_channel channel_id type bloom_filter(0.01) granularity 1,
  index logs_model model_name type bloom_filter(0.01) granularity 1,
  index logs_type type type set(16) granularity 1
) engine = ReplacingMergeTree
partition by intDiv(created_at, 86400)
order by (created_at, id)
settings non_replicated_deduplication_window = 1000`;

/** Seconds of a partition. */
export const PARTITION_SECONDS = 86_400;
