import { bigint, index, integer, longText, rowId, text, type TableSpec } from "../columns.ts";
import { tables, type Migration } from "../migration.ts";

/**
 * Lists are ordered by created_at and id, newest first, so each index below covers its filter, a period and the order
 * at once: a page of 10 million rows is read from its first row on. The last columns are type and quota, so that counts
 * by type and sums of a period are read from the index alone.
 */
export const LOG_TABLE: TableSpec = {
  columns: {
    id: rowId(),
    user_id: bigint(),
    created_at: bigint(),
    type: integer(),
    content: longText(),
    username: text(64),
    token_name: text(191),
    model_name: text(255),
    quota: bigint(),
    prompt_tokens: bigint(),
    completion_tokens: bigint(),
    use_time: bigint(),
    is_stream: integer(),
    channel_id: bigint(),
    token_id: bigint(),
    group: text(64),
    ip: text(64),
    request_id: text(64),
    other: longText(),
  },
  indexes: [
    // The list without a filter, counts for a period, deletion up to a time.
    index("created_at", "id", "type"),
    // A user's own list and statistics, also for a single token.
    index("user_id", "created_at", "id", "type", "quota"),
    // Nearly every row is consumption: the index finds the few others, and sums the quota of a period without reading
    // rows.
    index("type", "created_at", "id", "quota"),
    // The administrator's filters.
    index("username", "created_at", "id", "type", "quota"),
    index("token_name", "created_at", "id", "type", "quota"),
    index("model_name", "created_at", "id", "type", "quota"),
    index("channel_id", "created_at", "id", "type", "quota"),
    index("group", "created_at", "id", "type", "quota"),
    // Search by the id that a caller quotes.
    index("request_id"),
  ],
};

export const logs: Migration = {
  version: 1,
  name: "logs",
  steps: tables({ logs: LOG_TABLE }),
};
