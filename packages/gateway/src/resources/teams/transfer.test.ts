import { eachDatabase } from "@fairway/testkit/databases";
import { DEFAULT_TEAM_SETTINGS, parseOptions, ROLE } from "@fairway/wire";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { testClock, type TestClock } from "../../billing/ledger/test-harness.contract.ts";
import { createSqlLedger } from "../../billing/ledger/sql/sql-ledger.ts";
import type { Principal } from "../../identity/principal.ts";
import { quietLog } from "../../../test/kit/support.ts";
import { accountRow } from "../../identity/accounts/accounts.ts";
import { openDatabase, type Database } from "../../storage/database.ts";
import { insertRow } from "../../storage/inserts.ts";
import { createLogWriter } from "../../storage/log-rows.ts";
import type { RawDatabase, RawTransaction } from "../../storage/engines/raw.ts";
import { migrate } from "../../storage/schema/migrate.ts";
import { transact } from "../../storage/transaction.ts";
import { findTeamAccess, type Team } from "../../teams/team.ts";
import { createTeam } from "../../teams/teams.ts";
import { transferToTeam } from "./transfer.ts";

const START = 1_000;
const AMOUNT = 300;
const LEASE_MS = 60_000;
/** More than a transfer has statements. */
const MOST_POINTS = 50;

/** The process is dead: nothing of it reaches the database any more. */
class Dead extends Error {}

/** A database whose process dies before a statement or a commit, or after a commit whose answer is lost. */
function dyingAt(database: RawDatabase, point: number) {
  let steps = 0;
  const died = Promise.withResolvers<true>();
  const step = () => {
    steps += 1;
    if (steps < point) return;
    died.resolve(true);
    throw new Dead("the process is dead");
  };
  const watched = (tx: RawTransaction): RawTransaction => ({
    ...(tx.onRollback && { onRollback: tx.onRollback }),
    run: async (sql, values) => {
      step();
      return tx.run(sql, values);
    },
    rows: async (sql, values) => {
      step();
      return tx.rows(sql, values);
    },
  });
  const raw: RawDatabase = {
    ...watched(database),
    kind: database.kind,
    async transaction(work) {
      const result = await database.transaction(async (tx) => {
        const done = await work(watched(tx));
        step();
        return done;
      });
      step();
      return result;
    },
  };
  return { raw, died: died.promise };
}

eachDatabase("a transfer to a team whose process dies", (open) => {
  let database: Database;
  let clock: TestClock;
  let team: Team;
  let person: Principal;
  let made = 0;

  beforeAll(async () => {
    database = openDatabase({ url: await open(), log: quietLog });
    await migrate(database, { log: quietLog, mode: "auto" });
  });
  afterAll(() => database.close());
  beforeEach(() => void (clock = testClock()));

  const ledgerOn = (raw: RawDatabase) =>
    createSqlLedger({ database: raw, clock, leaseClock: clock, log: quietLog, leaseMs: LEASE_MS });

  async function start(): Promise<void> {
    made += 1;
    const username = `ann${made}`;
    const id = await insertRow(database.db, "users", accountRow({ username, passwordHash: "x", createdAt: 1 }));
    const found = await transact(database.db, async (trx) => {
      const plain = { description: "", labels: {}, settings: DEFAULT_TEAM_SETTINGS, group: "default" };
      const who = { ownerId: id, createdBy: id, source: "manual", nowMs: clock.now() };
      const one = await createTeam(trx, { ...plain, ...who, name: `Team ${made}`, slug: `team-${made}` });
      return findTeamAccess(trx, one.id, id);
    });
    if (!found) throw new Error("the team was not stored");
    ({ team } = found);
    const plain = { group: "default", via: "session", sessionHash: undefined, isProven: true } as const;
    person = { ...plain, userId: id, username, role: ROLE.user, token: undefined };
    await ledgerOn(database.raw).change({ requestId: `gift-${made}`, kind: "gift", userId: id, quota: START as never });
  }

  const send = (raw: RawDatabase) =>
    transferToTeam(
      {
        database: { ...database, raw },
        ledger: ledgerOn(raw),
        clock,
        options: () => parseOptions([]),
        writeLog: createLogWriter(false),
      },
      {
        team,
        caller: person,
        amount: AMOUNT,
        once: undefined,
        context: { requestId: `move-${made}`, ip: "", isSecure: true, startedAt: 0 },
      },
    );

  const readState = async () => {
    const users = await database.raw.rows<{ id: number; quota: number; held: number }>(
      "select id, quota, held from users where id in (?, ?) order by id",
      [person.userId, team.accountId],
    );
    const rows = await database.raw.rows<{ quota: number }>("select quota from ledger where request_id in (?, ?)", [
      `move-${made}-out`,
      `move-${made}-in`,
    ]);
    return { balances: users.map(({ quota }) => quota), held: users.map(({ held }) => held), rows: rows.length };
  };

  test("has both rows or none at every point, and its reservation ends", async () => {
    const outcomes = new Set<string>();
    let point = 1;
    for (let isDead = true; isDead; point += 1) {
      expect(point).toBeLessThan(MOST_POINTS);
      await start();
      const { raw, died } = dyingAt(database.raw, point);
      // A ledger that cannot reach its database tries again for as long as the process lives.
      isDead = await Promise.race([died, send(raw).then(() => false)]);
      clock.advance(2 * LEASE_MS);
      await ledgerOn(database.raw).reap();
      const { balances, held, rows } = await readState();
      const isMoved = rows > 0;
      expect([point, rows]).toEqual([point, isMoved ? 2 : 0]);
      expect([point, ...balances]).toEqual([point, ...(isMoved ? [START - AMOUNT, AMOUNT] : [START, 0])]);
      expect([point, ...held]).toEqual([point, 0, 0]);
      outcomes.add(`${isDead ? "dead" : "alive"}, ${isMoved ? "moved" : "not moved"}`);
    }
    expect(point).toBeGreaterThan(17);
    expect(outcomes).toEqual(new Set(["dead, not moved", "dead, moved", "alive, moved"]));
  }, 120_000);
});
