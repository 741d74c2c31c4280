// The promise of a shared wallet: exactly as many calls as it pays, whatever runs at the same time.
import { signIn } from "@fairway/testkit";
import { createDatabase, freshRedis } from "@fairway/testkit/databases";
import type { TeamToken, TeamView } from "@fairway/wire";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkBalances } from "../../../src/billing/audit/balances.ts";
import { checkLedgerSums } from "../../../src/billing/audit/sums.ts";
import { chat, startRelayApp, type RelayApp } from "../../kit/relay-app.ts";

const PAID = 50;
const CALLS = 200;
const KEYS = 5;

describe.each([
  ["sqlite", false],
  ["mariadb", false],
  ["postgres", false],
  ["postgres", true],
] as const)("a wallet on %s, with Redis: %s", (kind, hasRedis) => {
  let gateway: RelayApp;
  beforeAll(async () => {
    gateway = await startRelayApp({
      FAIRWAY_DATABASE_URL: await createDatabase(kind),
      ...(hasRedis && { FAIRWAY_REDIS_URL: (await freshRedis()).url }),
    });
    await gateway.channel("wallet-model");
  }, 60_000);
  afterAll(() => gateway.close());

  /** Reads a balance when that many calls are booked, which a ledger in Redis does later. */
  const readAccount = async (id: number, calls: number) => {
    const count = "select request_count from users where id = ?";
    const readCount = async () => (await gateway.database.raw.rows<{ request_count: number }>(count, [id]))[0];
    await expect.poll(readCount, { timeout: 20_000 }).toEqual({ request_count: calls });
    await gateway.settled();
    const sql = "select quota, used_quota, request_count from users where id = ?";
    const [row] = await gateway.database.raw.rows<{ quota: number; used_quota: number; request_count: number }>(sql, [
      id,
    ]);
    return row;
  };

  it("pays for as many of 200 calls by five keys as it has money for", async () => {
    const { root, url } = gateway;
    await root.must("POST", "/api/user/", { username: "mia", password: "a good password" });
    const mia = await signIn(url, "mia", "a good password");
    const start = async (name: string, quota: number) => {
      const team = await root.must<TeamView>("POST", "/api/team/", { name });
      await root.must("POST", `/api/team/${team.id}/members`, { user_id: mia.userId, role: "member" });
      await root.must("POST", `/api/team/${team.id}/adjust`, { quota });
      return team;
    };
    const makeKey = (team: TeamView) =>
      mia.must<TeamToken>("POST", `/api/team/${team.id}/token/`, { name: "key", unlimited_quota: true });
    const ask = async ({ key }: TeamToken): Promise<number> => {
      const body = { ...chat("wallet-model"), max_tokens: 10 };
      const response = await gateway.post("/v1/chat/completions", body, key);
      await response.text();
      return response.status;
    };
    const before = await readAccount(mia.userId, 0);
    const probe = await start("Probe", 1_000_000);
    expect(await ask(await makeKey(probe))).toBe(200);
    const price = (await readAccount(probe.account_id, 1))?.used_quota ?? 0;
    expect(price).toBeGreaterThan(0);
    const team = await start("Parallel", price * PAID);
    const keys = await Promise.all(Array.from({ length: KEYS }, () => makeKey(team)));
    const answers = await Promise.all(Array.from({ length: CALLS }, (_, at) => ask(keys[at % KEYS] as TeamToken)));
    // A reservation may be larger than the price: what was refused meanwhile finds its money afterwards.
    await gateway.settled();
    for (let at = 0; answers.at(-1) === 200 || at < PAID; at += 1) answers.push(await ask(keys[0] as TeamToken));
    const served = answers.filter((status) => status === 200).length;
    expect(new Set(answers)).toEqual(new Set([200, 403]));
    const wallet = await readAccount(team.account_id, served);
    expect(wallet).toEqual({ quota: price * (PAID - served), used_quota: price * served, request_count: served });
    expect(served).toBeLessThanOrEqual(PAID);
    expect(await readAccount(mia.userId, 0)).toEqual(before);
    const { raw } = gateway.database;
    expect(await raw.rows("select id from logs where user_id = ? and type = 2", [mia.userId])).toEqual([]);
    expect([...(await checkBalances(raw, false)), ...(await checkLedgerSums(raw))]).toEqual([]);
  }, 120_000);
});
