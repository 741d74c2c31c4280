import type { ClickHouseClient } from "@clickhouse/client";
import { currentLimit } from "../../lib/async/time-limit.ts";
import { readClickhouseAddress } from "../../lib/net/clickhouse-address.ts";

/** Statements without parameters, whose values are literals. */
export interface ClickhouseClient {
  /** Runs one query; integers are returned as safe integers. */
  rows<Row>(sql: string): Promise<Row[]>;
  /** Runs a statement without rows and waits until it has taken effect. */
  command(sql: string): Promise<void>;
  /**
   * Stores rows of one partition, all or none. With the token of an earlier call, the server ignores the rows, even if
   * that call was not answered.
   */
  insert(rows: readonly object[], token: string): Promise<void>;
  close(): Promise<void>;
}

/** Longer than the longest answer of a page over a large log. */
const READ_MS = 60_000;
const LONGEST_STATEMENT = 32 * 2 ** 20;

const SETTINGS = {
  max_query_size: String(LONGEST_STATEMENT),
  output_format_json_quote_64bit_integers: 0,
  // The next two are what SQL says: sums of no rows are null, and an alias does not hide a column.
  aggregate_functions_null_for_empty: 1,
  prefer_column_name_to_alias: 1,
  // A delete or an update has been done when it is confirmed.
  mutations_sync: "2",
  lightweight_deletes_sync: "2",
} as const;

/** The client connects at the first statement; only installations with ClickHouse load its code. */
export async function openClickhouseClient(url: string, connections: number): Promise<ClickhouseClient> {
  const { origin, username, password, database } = readClickhouseAddress(url);
  const { createClient, ClickHouseLogLevel } = await import("@clickhouse/client");
  const client = createClient({
    url: origin,
    username,
    password,
    database,
    application: "fairway",
    request_timeout: READ_MS,
    max_open_connections: connections,
    compression: { response: true, request: true },
    clickhouse_settings: SETTINGS,
    log: { level: ClickHouseLogLevel.OFF },
  });
  return {
    async rows<Row>(query: string) {
      const result = await client.query({ query, format: "JSONEachRow", ...limited() });
      return result.json<Row>();
    },
    async command(query) {
      await client.command({ query, ...limited() });
    },
    insert: (rows, token) => insert(client, rows, token),
    close: () => client.close(),
  };
}

function limited(): { abort_signal?: AbortSignal } {
  const limit = currentLimit();
  return limit ? { abort_signal: limit } : {};
}

async function insert(client: ClickHouseClient, values: readonly object[], token: string): Promise<void> {
  await client.insert({
    table: "logs",
    values,
    format: "JSONEachRow",
    ...limited(),
    clickhouse_settings: {
      async_insert: 0,
      insert_deduplicate: 1,
      insert_deduplication_token: token,
      // Without threads that cut the text, all rows are one block, which is stored whole.
      input_format_parallel_parsing: 0,
    },
  });
}
