import { randomBytes } from "node:crypto";
import { PassThrough } from "node:stream";
import type { Clock } from "../../src/lib/clock.ts";
import { Secret } from "../../src/lib/secret.ts";
import { isClickhouseUrl } from "../../src/lib/net/clickhouse-address.ts";
import { createLog } from "../../src/observability/log.ts";
import { openClickhouse } from "../../src/storage/clickhouse/open.ts";
import { openDatabase, type Database } from "../../src/storage/database.ts";
import type { LogDatabase } from "../../src/storage/log-database.ts";
import { migrate } from "../../src/storage/schema/migrate.ts";
import type { Topic } from "../../src/storage/revisions.ts";
import { createVault, type Vault } from "../../src/storage/secrets/secrets.ts";

/** A migrated database with what stores need besides it. */
export interface StoreKit {
  readonly database: Database;
  /** Where `logs` is: the same database, or ClickHouse. */
  readonly logs: LogDatabase;
  readonly vault: Vault;
  /** Stands still until a test moves it. */
  readonly clock: Clock & { set(seconds: number): void };
  readonly announce: (topic: Topic) => Promise<void>;
  readonly refusesHost: () => boolean;
  /** Topics in the order in which they were announced. */
  readonly announced: Topic[];
}

export const START_SECONDS = 1_800_000_000;

/** With the URL of ClickHouse, the log is there, and everything else in a database in memory. */
export async function openStoreKit(url: string): Promise<StoreKit> {
  const log = createLog({ level: "off", format: "text", out: new PassThrough() });
  const isClickhouse = isClickhouseUrl(url);
  const database = openDatabase({ url: isClickhouse ? "sqlite::memory:" : url, log });
  await migrate(database, { log, mode: "auto" });
  const logs = isClickhouse ? await openClickhouse({ url, connections: 4 }) : database;
  if (logs.kind === "clickhouse") await logs.prepare();
  const announced: Topic[] = [];
  let now = START_SECONDS * 1000;
  const close = async () => void (await Promise.all([database.close(), logs.close()]));
  return {
    database: isClickhouse ? { ...database, close } : database,
    logs,
    vault: createVault({ keys: [{ id: "k1", key: new Secret(randomBytes(32).toString("base64")) }] }),
    clock: { now: () => now, set: (seconds) => void (now = seconds * 1000) },
    announced,
    refusesHost: () => false,
    announce: async (topic) => void announced.push(topic),
  };
}
