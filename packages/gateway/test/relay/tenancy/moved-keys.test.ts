// A key that changes its owner while calls run: no call is refused, and each is paid once, by the owner of its moment.
import { signIn, type Session } from "@fairway/testkit";
import { createDatabase, freshRedis } from "@fairway/testkit/databases";
import type { TeamView } from "@fairway/wire";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkBalances } from "../../../src/billing/audit/balances.ts";
import { checkLedgerSums } from "../../../src/billing/audit/sums.ts";
import { chat, startRelayApp, type RelayApp } from "../../kit/relay-app.ts";

const MOVES = 6;
const CALLERS = 4;
const CALLS_PER_MOVE = 8;
const START = 100_000_000;

describe.each([
  ["sqlite", false],
  ["postgres", true],
] as const)("a moved key on %s, with Redis: %s", (kind, hasRedis) => {
  let gateway: RelayApp;
  let olga: Session;
  let team: TeamView;
  beforeAll(async () => {
    gateway = await startRelayApp({
      FAIRWAY_DATABASE_URL: await createDatabase(kind),
      ...(hasRedis && { FAIRWAY_REDIS_URL: (await freshRedis()).url }),
    });
    const { root, url } = gateway;
    await gateway.channel("moved-model");
    await root.must("POST", "/api/user/", { username: "olga", password: "a good password" });
    olga = await signIn(url, "olga", "a good password");
    const { userId: id } = olga;
    await root.must("PUT", "/api/user/", { id, username: "olga", quota: START, group: "default" });
    team = await root.must<TeamView>("POST", "/api/team/", { name: "Movers", owner_id: id });
    await root.must("POST", `/api/team/${team.id}/adjust`, { quota: START });
  }, 60_000);
  afterAll(() => gateway.close());

  const ask = async (key: string): Promise<number> => {
    const response = await gateway.post("/v1/chat/completions", { ...chat("moved-model"), max_tokens: 10 }, key);
    await response.text();
    return response.status;
  };

  const readAccount = async (id: number) => {
    const sql = "select quota, used_quota, request_count from users where id = ?";
    const [row] = await gateway.database.raw.rows<{ quota: number; used_quota: number; request_count: number }>(sql, [
      id,
    ]);
    return row ?? { quota: 0, used_quota: 0, request_count: 0 };
  };

  /** Calls with a key while it moves; returns the statuses. */
  async function callWhileMoving(isUnlimited: boolean): Promise<readonly number[]> {
    const terms = { name: "app", unlimited_quota: isUnlimited, remain_quota: isUnlimited ? 0 : START };
    const made = await olga.must<{ id: number }>("POST", "/api/token/", terms);
    const key = `sk-${(await olga.must<{ key: string }>("GET", `/api/token/${made.id}`)).key}`;
    const statuses: number[] = [];
    let isMoving = true;
    const call = async () => {
      while (isMoving) statuses.push(await ask(key));
    };
    const callers = Promise.all(Array.from({ length: CALLERS }, call));
    let { id } = made;
    for (let at = 1; at <= MOVES; at += 1) {
      await expect.poll(() => statuses.length, { timeout: 60_000 }).toBeGreaterThanOrEqual(at * CALLS_PER_MOVE);
      const to = at % 2 === 1 ? { team_id: team.id } : { user_id: olga.userId };
      ({ id } = await olga.must<{ id: number }>("POST", `/api/token/${id}/move`, to));
    }
    isMoving = false;
    await callers;
    return statuses;
  }

  /** Checks that both owners paid for that many calls more, at one price, and that the books agree. */
  async function checkPaid(served: number): Promise<void> {
    const readBoth = async () => {
      await gateway.settled();
      return [await readAccount(olga.userId), await readAccount(team.account_id)] as const;
    };
    const count = async () => (await readBoth()).reduce((sum, { request_count: calls }) => sum + calls, 0);
    await expect.poll(count, { timeout: 30_000 }).toBe(served);
    const both = await readBoth();
    const price = both.reduce((sum, { used_quota: used }) => sum + used, 0) / served;
    for (const account of both) {
      expect(account.quota + account.used_quota).toBe(START);
      expect(account.used_quota).toBe(price * account.request_count);
      expect(account.request_count).toBeGreaterThan(0);
    }
    const { raw } = gateway.database;
    expect([...(await checkBalances(raw, false)), ...(await checkLedgerSums(raw))]).toEqual([]);
  }

  it("serves every call under load, and both owners pay exactly what was called", async () => {
    const statuses = await callWhileMoving(true);
    expect(new Set(statuses)).toEqual(new Set([200]));
    await checkPaid(statuses.length);
    // Of a limited key, a call that found its old owner and has not reserved yet is refused.
    const limited = await callWhileMoving(false);
    expect(new Set(limited).isSubsetOf(new Set([200, 403]))).toBe(true);
    await checkPaid(statuses.length + limited.filter((status) => status === 200).length);
  }, 180_000);
});
