import { createDatabase } from "@fairway/testkit/databases";
import { afterEach, describe, expect, it } from "vitest";
import { quietLog } from "../../../../test/kit/support.ts";
import { type Database, openDatabase } from "../../../storage/database.ts";
import { migrate } from "../../../storage/schema/migrate.ts";
import type { RawDatabase } from "../../../storage/engines/raw.ts";
import { createTestAccounts, granted, createLogDetail, createSettlement, testClock } from "../test-harness.contract.ts";
import { createSqlLedger } from "./sql-ledger.ts";

const opened: Database[] = [];
afterEach(async () => {
  for (const database of opened.splice(0)) await database.close();
});

async function open(url: string): Promise<Database> {
  const database = openDatabase({ url, log: quietLog });
  opened.push(database);
  return database;
}

async function openLedger(url: string) {
  const database = await open(url);
  await migrate(database, { log: quietLog, mode: "auto" });
  const clock = testClock();
  const ledger = createSqlLedger({ database: database.raw, clock, log: quietLog, onBalance: () => {} });
  const raw = database.raw;
  const accounts = createTestAccounts({
    ledger,
    database: raw,
    logDatabase: raw,
    clock,
    leaseMs: 60_000,
    close: async () => {},
  });
  const user = await accounts.addUser(100_000);
  const charge = async (content: string) => {
    const hold = await granted(ledger, user, 0, 100);
    return () => ledger.settle(createSettlement(hold, 7, { log: createLogDetail(0, { content }) }));
  };
  /** Returns counts and sums of the ledger rows and of the log rows. */
  const books = async () => {
    const sums = async (sql: string) => {
      const [sum] = await raw.rows<{ rows_found: number; total: number | null }>(sql, []);
      return [Number(sum?.rows_found), Number(sum?.total)];
    };
    return {
      charged: await sums("select count(*) as rows_found, -sum(quota) as total from ledger where kind = 'consume'"),
      logged: await sums("select count(*) as rows_found, sum(quota) as total from logs"),
    };
  };
  return { raw, charge, books };
}

const KILL = {
  mysql:
    "select concat('kill ', id) as statement from information_schema.processlist where db = database() and id <> connection_id()",
  postgres:
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
};

/** Terminates every other connection to this database, as an administrator of the server can. */
async function killConnections(own: RawDatabase): Promise<number> {
  if (own.kind === "sqlite") throw new Error("no connections to kill");
  const rows = await own.rows<{ statement?: string }>(KILL[own.kind], []);
  for (const { statement } of rows)
    if (statement !== undefined) await own.run(statement, []).catch((error: unknown) => expectGone(error));
  return rows.length;
}

/** Expects that the connection was closed; it may have closed by itself. */
function expectGone(error: unknown): void {
  expect(String(error)).toContain("Unknown thread id");
}

// @weakness Money: A disk that is full, or connections that are killed, leave charges without log rows
describe("log rows of charges", () => {
  it("wait while the SQLite disk is full", { timeout: 60_000 }, async () => {
    const { raw, charge, books } = await openLedger(await createDatabase("sqlite"));
    const settlements = await Promise.all(Array.from({ length: 20 }, () => charge("x".repeat(20_000))));
    const [size] = await raw.rows<{ pages: number }>("select page_count as pages from pragma_page_count", []);
    await raw.rows(`pragma max_page_count = ${(size?.pages ?? 0) + 15}`, []);
    const settled = settlements.map((settle) => settle());
    const open = Promise.all(settled).then(() => "settled");
    const fill = "create table filler as select randomblob(1000000) as bytes";
    await expect(raw.run(fill, [])).rejects.toThrow("database or disk is full");
    const { charged, logged } = await books();
    expect(logged).toEqual(charged);
    expect(charged[0]).toBeLessThan(20);
    await raw.rows("pragma max_page_count = 1000000", []);
    expect(await open).toBe("settled");
    expect(await books()).toEqual({ charged: [20, 140], logged: [20, 140] });
  });

  it.each(["mariadb", "postgres"] as const)("survive killed %s connections", { timeout: 120_000 }, async (kind) => {
    const url = await createDatabase(kind);
    const { charge, books } = await openLedger(url);
    const killer = (await open(url)).raw;
    const settlements = await Promise.all(Array.from({ length: 50 }, (_, index) => charge(`call ${index}`)));
    let isOver = false;
    const settled = Promise.all(settlements.map((settle) => settle())).finally(() => (isOver = true));
    let killed = 0;
    for (let round = 0; round < 3 || (!isOver && round < 10); round += 1) killed += await killConnections(killer);
    await settled;
    expect(killed).toBeGreaterThan(0);
    expect(await books()).toEqual({ charged: [50, 350], logged: [50, 350] });
  });
});
