import { Writable } from "node:stream";
import { createLog } from "../../../observability/log.ts";
import { openDatabase } from "../../../storage/database.ts";
import { migrate, migrateLogs } from "../../../storage/schema/migrate.ts";
import { BALANCE_LIMIT, type LedgerHarness, type TestClock, testClock } from "../test-harness.contract.ts";
import { createSqlLedger } from "./sql-ledger.ts";

const out = new Writable({ write: (_chunk, _encoding, done) => done() });
const log = createLog({ level: "off", format: "json", out });
const LEASE_MS = 60_000;

/** Opens the SQL ledger on a database that is migrated if it is empty. */
export async function openSqlHarness(
  url: string,
  {
    logUrl,
    clock = testClock(),
    isLeaseClock = true,
  }: {
    readonly logUrl?: string;
    readonly clock?: TestClock;
    /** If false, leases use the time of the database, as they do outside of tests. */
    readonly isLeaseClock?: boolean;
  } = {},
): Promise<LedgerHarness> {
  const database = openDatabase({ url, log });
  await migrate(database, { log, mode: "auto" });
  const logs = logUrl === undefined ? undefined : openDatabase({ url: logUrl, log });
  if (logs) await migrateLogs(logs, { log, mode: "auto" });
  const ledger = createSqlLedger({
    database: database.raw,
    ...(logs ? { logDatabase: logs.raw } : {}),
    clock,
    ...(isLeaseClock ? { leaseClock: clock } : {}),
    log,
    leaseMs: LEASE_MS,
    balanceLimit: () => BALANCE_LIMIT,
  });
  return {
    ledger,
    database: database.raw,
    logDatabase: (logs ?? database).raw,
    clock,
    leaseMs: LEASE_MS,
    async close() {
      await ledger.flush();
      await database.close();
      await logs?.close();
    },
  };
}
