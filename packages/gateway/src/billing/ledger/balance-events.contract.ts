import { beforeEach, expect, it } from "vitest";
import {
  BALANCE_LIMIT,
  createSettlement,
  granted,
  type Accounts,
  type LedgerHarness,
} from "./test-harness.contract.ts";

interface Opened {
  readonly harness: LedgerHarness;
  readonly accounts: Accounts;
}

/** The events of balances, which every ledger writes with the charge that causes them. */
export function balanceEventContract(opened: () => Opened): void {
  let harness: LedgerHarness;
  let accounts: Accounts;

  beforeEach(() => {
    ({ harness, accounts } = opened());
  });

  const listEvents = async (account: number) => {
    await harness.ledger.flush();
    const sql = "select type, user_id, severity, data from events where account_id = ? order by id";
    return harness.database.rows<{ type: string; user_id: number; severity: string; data: string }>(sql, [account]);
  };
  const charge = async (user: number, token: number, amount: number) =>
    harness.ledger.settle(createSettlement(await granted(harness.ledger, user, token, amount), amount));

  it("writes one event when a balance falls below the limit, and one when it is empty", async () => {
    const user = await accounts.addUser(BALANCE_LIMIT + 50);
    const token = await accounts.addToken(user, "unlimited");
    await charge(user, token, 50);
    expect(await listEvents(user)).toEqual([]);
    await charge(user, token, 10);
    // Over Redis, one transaction books all charges that wait.
    await harness.ledger.flush();
    await charge(user, token, 10);
    const [low, ...more] = await listEvents(user);
    expect(more).toEqual([]);
    expect(low).toMatchObject({ type: "balance.low", user_id: user, severity: "warning" });
    expect(JSON.parse(low?.data ?? "")).toEqual({ balance: BALANCE_LIMIT - 10, limit: BALANCE_LIMIT });
    await charge(user, token, BALANCE_LIMIT - 20);
    expect((await listEvents(user)).map(({ type }) => type)).toEqual(["balance.low", "balance.empty"]);
  });

  it("reminds an owner below the owner's own limit, and not below the usual one", async () => {
    const own = BALANCE_LIMIT + 1_000;
    const user = await accounts.addUser(own + 5);
    await harness.database.run("update users set balance_limit = ? where id = ?", [own, user]);
    const token = await accounts.addToken(user, "unlimited");
    await charge(user, token, 10);
    await harness.ledger.flush();
    await charge(user, token, 1_000);
    const [low, ...more] = await listEvents(user);
    expect(more).toEqual([]);
    expect(low).toMatchObject({ type: "balance.low", user_id: user });
    expect(JSON.parse(low?.data ?? "")).toEqual({ balance: own - 5, limit: own });
  });

  it("writes one event for each balance, however many charges cross the limit at once", async () => {
    const user = await accounts.addUser(BALANCE_LIMIT + 10);
    const token = await accounts.addToken(user, "unlimited");
    const holds = [];
    for (let at = 0; at < 20; at += 1) holds.push(await granted(harness.ledger, user, token, 5));
    await Promise.all(holds.map((hold) => harness.ledger.settle(createSettlement(hold, 5))));
    expect((await listEvents(user)).map(({ type }) => type)).toEqual(["balance.low"]);
  });

  it("writes a wallet's event for its team", async () => {
    const wallet = await accounts.addUser(BALANCE_LIMIT);
    await harness.database.run("update users set kind = 1 where id = ?", [wallet]);
    await harness.database.run(
      "insert into teams (account_id, name, slug, description, labels, settings, status, created_by, created_at, version) values (?, 'Search', ?, '', '{}', '{}', 1, 1, 1, 1)",
      [wallet, `team-${wallet}`],
    );
    const [team] = await harness.database.rows<{ id: number }>("select id from teams where account_id = ?", [wallet]);
    await charge(wallet, 0, 10);
    await harness.ledger.flush();
    const sql = "select user_id, team_id from events where account_id = ?";
    expect(await harness.database.rows(sql, [wallet])).toEqual([{ user_id: 0, team_id: team?.id }]);
  });
}
