// An account that becomes a team while its key is used: no call is refused, and each is paid once from the one balance.
import { signIn } from "@fairway/testkit";
import { createDatabase, freshRedis } from "@fairway/testkit/databases";
import type { TeamView } from "@fairway/wire";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkBalances } from "../../../src/billing/audit/balances.ts";
import { checkLedgerSums } from "../../../src/billing/audit/sums.ts";
import { chat, startRelayApp, type RelayApp } from "../../kit/relay-app.ts";

const CALLERS = 4;
const CALLS = 12;
const START = 100_000_000;
const PASSWORD = "a good password";

describe.each([
  ["sqlite", false],
  ["postgres", true],
] as const)("a converted account on %s, with Redis: %s", (kind, hasRedis) => {
  let gateway: RelayApp;
  beforeAll(async () => {
    gateway = await startRelayApp({
      FAIRWAY_DATABASE_URL: await createDatabase(kind),
      ...(hasRedis && { FAIRWAY_REDIS_URL: (await freshRedis()).url }),
    });
    await gateway.channel("legacy-model");
  }, 60_000);
  afterAll(() => gateway.close());

  /** An account with money, a key and a budget, with which no one signs in any more. */
  async function makeAccount(): Promise<{ readonly id: number; readonly key: string }> {
    const { root, url, database } = gateway;
    await root.must("POST", "/api/user/", { username: "legacy", password: PASSWORD });
    const legacy = await signIn(url, "legacy", PASSWORD);
    const { userId: id } = legacy;
    await root.must("PUT", "/api/user/", { id, username: "legacy", quota: START, group: "default" });
    const made = await legacy.must<{ id: number }>("POST", "/api/token/", { name: "app", unlimited_quota: true });
    const { key } = await legacy.must<{ key: string }>("GET", `/api/token/${made.id}`);
    const terms = { scope: "user", subject: String(id), period: "month", quota_limit: START, is_hard: true };
    await root.must("POST", "/api/budget/", terms);
    await database.raw.run("update users set password = '!' where id = ?", [id]);
    await database.raw.run("delete from sessions where user_id = ?", [id]);
    return { id, key: `sk-${key}` };
  }

  it("serves and books every call, before and after", async () => {
    const { root, database } = gateway;
    const { id, key } = await makeAccount();
    const statuses: number[] = [];
    let isCalling = true;
    const call = async () => {
      while (isCalling) {
        const response = await gateway.post("/v1/chat/completions", { ...chat("legacy-model"), max_tokens: 10 }, key);
        await response.text();
        statuses.push(response.status);
      }
    };
    const callers = Promise.all(Array.from({ length: CALLERS }, call));
    const reach = (count: number) =>
      expect.poll(() => statuses.length, { timeout: 60_000 }).toBeGreaterThanOrEqual(count);
    await reach(CALLS);
    const stream = await gateway.post("/v1/chat/completions", chat("legacy-model", { stream: true }), key);
    const team = await root.must<TeamView>("POST", "/api/team/convert", { user_id: id, name: "Legacy" });
    expect(await stream.text()).toContain("[DONE]");
    await reach(statuses.length + CALLS);
    isCalling = false;
    await callers;
    expect(new Set(statuses)).toEqual(new Set([200]));
    await gateway.settled();
    const readAccount = async () => {
      const sql = "select quota, used_quota, request_count from users where id = ?";
      const [row] = await database.raw.rows<{ quota: number; used_quota: number; request_count: number }>(sql, [id]);
      return row;
    };
    const countBooked = async () => (await readAccount())?.request_count;
    await expect.poll(countBooked, { timeout: 20_000 }).toBe(statuses.length + 1);
    const account = await readAccount();
    expect((account?.quota ?? 0) + (account?.used_quota ?? 0)).toBe(START);
    const kinds = await database.raw.rows<{ account_kind: number }>(
      "select distinct account_kind from logs where user_id = ? and type = 2 order by account_kind",
      [id],
    );
    expect(kinds.map(({ account_kind: one }) => one)).toEqual([0, 1]);
    const readBudgets = () => database.raw.rows("select scope, subject, used from budgets", []);
    const counted = { scope: "team", subject: String(team.id), used: account?.used_quota };
    await expect.poll(readBudgets, { timeout: 20_000 }).toEqual([counted]);
    expect([...(await checkBalances(database.raw, hasRedis)), ...(await checkLedgerSums(database.raw))]).toEqual([]);
  }, 120_000);
});
