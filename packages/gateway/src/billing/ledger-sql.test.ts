import { Writable } from "node:stream";
import { createDatabase, eachDatabase } from "@fairway/testkit/databases";
import { describe, expect, it } from "vitest";
import { createLog } from "../observability/log.ts";
import { openDatabase } from "../storage/database.ts";
import { migrate, migrateLogs } from "../storage/migrate.ts";
import { accountsOf, granted, type LedgerRig, settlementOf, testClock } from "./ledger-rig.contract.ts";
import { ledgerContract } from "./ledger.contract.ts";
import { createLogOutbox } from "./log-outbox.ts";
import { createSqlLedger } from "./ledger-sql.ts";

const log = createLog({
  level: "off",
  format: "json",
  out: new Writable({ write: (_chunk, _encoding, done) => done() }),
});
const LEASE_MS = 60_000;

async function openRig(url: string, logUrl?: string): Promise<LedgerRig> {
  const database = openDatabase({ url, log });
  await migrate(database, { log, mode: "auto" });
  const logs = logUrl === undefined ? undefined : openDatabase({ url: logUrl, log });
  if (logs) await migrateLogs(logs, { log, mode: "auto" });
  const clock = testClock();
  const ledger = createSqlLedger({
    database: database.raw,
    ...(logs ? { outbox: createLogOutbox({ database: database.raw, logDatabase: logs.raw, log }) } : {}),
    clock,
    log,
    leaseMs: LEASE_MS,
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

eachDatabase("the SQL ledger", (open) => {
  ledgerContract(async () => openRig(await open()));
});

describe("the SQL ledger with its logs on PostgreSQL", () => {
  ledgerContract(async () => openRig(await createDatabase("sqlite"), await createDatabase("postgres")));
});

eachDatabase("the SQL ledger's own tables", (open) => {
  it("hold the sum of open reservations and nothing once they are closed", async () => {
    const rig = await openRig(await open());
    const accounts = accountsOf(rig);
    const user = await accounts.addUser(1000);
    const token = await accounts.addToken(user, 1000);
    const held = async () => {
      const sql =
        "select u.held as of_user, t.held as of_token from users u join tokens t on t.user_id = u.id where u.id = ?";
      return (await rig.database.rows(sql, [user]))[0];
    };
    const first = await granted(rig.ledger, user, token, 100);
    const second = await granted(rig.ledger, user, token, 50);
    expect(await held()).toEqual({ of_user: 150, of_token: 150 });
    await Promise.all([rig.ledger.settle(settlementOf(first, 120)), rig.ledger.release(second)]);
    expect(await held()).toEqual({ of_user: 0, of_token: 0 });
    await rig.close();
  });
});
