import { Kysely } from "kysely";
import type { RawTransaction } from "../engines/raw.ts";
import type { Schema } from "../tables/schema.ts";
import { openClickhouseClient, type ClickhouseClient } from "./client.ts";
import { createClickhouseDialect } from "./dialect.ts";
import { withLiterals } from "./literal.ts";
import { CREATE_LOGS } from "./table.ts";

/** A log in ClickHouse: read like the others, written in whole batches. */
export interface ClickhouseLog {
  readonly kind: "clickhouse";
  readonly db: Kysely<Schema>;
  readonly raw: Pick<RawTransaction, "rows" | "run">;
  readonly client: ClickhouseClient;
  /** Creates the table unless it exists. */
  prepare(): Promise<void>;
  /** Rejects when the server does not answer. */
  ping(): Promise<void>;
  /** Rejects when the server does not answer or lacks the table. */
  check(): Promise<void>;
  close(): Promise<void>;
}

interface ClickhouseSettings {
  /** `clickhouse://user:password@host:8123/name`. */
  readonly url: string;
  /** Most connections. */
  readonly connections: number;
}

export async function openClickhouse({ url, connections }: ClickhouseSettings): Promise<ClickhouseLog> {
  const client = await openClickhouseClient(url, connections);
  return {
    kind: "clickhouse",
    client,
    db: new Kysely<Schema>({ dialect: createClickhouseDialect(client) }),
    raw: {
      rows: (sql, values) => client.rows(withLiterals(sql, values)),
      async run(sql, values) {
        await client.command(withLiterals(sql, values).replace(UPDATE, "alter table $1 update "));
        return 0;
      },
    },
    prepare: () => client.command(CREATE_LOGS),
    async ping() {
      await client.rows("select 1 as one");
    },
    async check() {
      await client.rows("select id from logs limit 1");
    },
    close: () => client.close(),
  };
}

/** Updates are a change of the table in ClickHouse. */
const UPDATE = /^update (\w+) set /;
