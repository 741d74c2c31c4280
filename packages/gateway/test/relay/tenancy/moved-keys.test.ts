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

  it("serves every call under load, and both owners pay exactly what was called", async () => {
    const made = await olga.must<{ id: number; key: string }>("POST", "/api/token/", {
      name: "app",
      unlimited_quota: false,
      remain_quota: START,
    });
    const key = `sk-${(await olga.must<{ key: string }>("GET", `/api/token/${made.id}`)).key}`;
    const statuses: number[] = [];
    let isMoving = true;
    const call = async () => {
      while (isMoving) statuses.push(await ask(key));
    };
    const callers = Promise.all(Array.from({ length: CALLERS }, call));
    let { id } = made;
    let left = START;
    for (let at = 1; at <= MOVES; at += 1) {
      await expect.poll(() => statuses.length, { timeout: 60_000 }).toBeGreaterThanOrEqual(at * CALLS_PER_MOVE);
      const to = at % 2 === 1 ? { team_id: team.id } : { user_id: olga.userId };
      const moved = await olga.must<{ id: number; remain_quota: number }>("POST", `/api/token/${id}/move`, to);
      expect(moved.remain_quota).toBeLessThan(left);
      ({ id, remain_quota: left } = moved);
    }
    isMoving = false;
    await callers;
    expect(new Set(statuses)).toEqual(new Set([200]));
    const counted = async () => {
      await gateway.settled();
      const [person, wallet] = [await readAccount(olga.userId), await readAccount(team.account_id)];
      return person.request_count + wallet.request_count;
    };
    await expect.poll(counted, { timeout: 30_000 }).toBe(statuses.length);
    const [person, wallet] = [await readAccount(olga.userId), await readAccount(team.account_id)];
    const price = (person.used_quota + wallet.used_quota) / statuses.length;
    for (const account of [person, wallet]) {
      expect(account.quota + account.used_quota).toBe(START);
      expect(account.used_quota).toBe(price * account.request_count);
      expect(account.request_count).toBeGreaterThan(0);
    }
    const { raw } = gateway.database;
    expect([...(await checkBalances(raw, false)), ...(await checkLedgerSums(raw))]).toEqual([]);
  }, 180_000);
});
