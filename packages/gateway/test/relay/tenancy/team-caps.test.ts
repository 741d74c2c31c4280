// Budgets that a team sets itself: exactly as many calls pass as they pay for, whatever runs at the same time.
import { signIn, type Session } from "@fairway/testkit";
import { createDatabase, freshRedis } from "@fairway/testkit/databases";
import type { Budget, TeamToken, TeamView } from "@fairway/wire";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkBalances } from "../../../src/billing/audit/balances.ts";
import { checkLedgerSums } from "../../../src/billing/audit/sums.ts";
import { chat, startRelayApp, type RelayApp } from "../../kit/relay-app.ts";

const OWN_CALLS = 30;
const PARALLEL = 70;

describe.each([
  ["sqlite", false],
  ["mariadb", false],
  ["postgres", true],
] as const)("a cap of the team on %s, with Redis: %s", (kind, hasRedis) => {
  let gateway: RelayApp;
  let adam: Session;
  let mia: Session;
  let team: TeamView;
  beforeAll(async () => {
    gateway = await startRelayApp({
      FAIRWAY_DATABASE_URL: await createDatabase(kind),
      ...(hasRedis && { FAIRWAY_REDIS_URL: (await freshRedis()).url }),
    });
    const { root, url } = gateway;
    await gateway.channel("capped-model");
    for (const username of ["adam", "mia"])
      await root.must("POST", "/api/user/", { username, password: "a good password" });
    adam = await signIn(url, "adam", "a good password");
    mia = await signIn(url, "mia", "a good password");
    team = await root.must<TeamView>("POST", "/api/team/", { name: "Capped" });
    await root.must("POST", `/api/team/${team.id}/members`, { user_id: adam.userId, role: "admin" });
    await root.must("POST", `/api/team/${team.id}/members`, { user_id: mia.userId, role: "member" });
    await root.must("POST", `/api/team/${team.id}/adjust`, { quota: 100_000_000 });
  }, 60_000);
  afterAll(() => gateway.close());

  const makeKey = (who: Session) =>
    who.must<TeamToken>("POST", `/api/team/${team.id}/token/`, { name: "key", unlimited_quota: true });

  const ask = async ({ key }: TeamToken): Promise<{ status: number; text: string }> => {
    const response = await gateway.post("/v1/chat/completions", { ...chat("capped-model"), max_tokens: 10 }, key);
    return { status: response.status, text: await response.text() };
  };

  const findBudget = async (id: number): Promise<Budget | undefined> => {
    await gateway.settled();
    const all = await adam.must<Budget[]>("GET", `/api/team/${team.id}/budget/`);
    return all.find((budget) => budget.id === id);
  };

  it("stops the member after as many of the parallel calls as it pays for, and no one else", async () => {
    const [key, other] = [await makeKey(mia), await makeKey(adam)];
    const probe = await adam.must<Budget>("POST", `/api/team/${team.id}/budget/`, {
      scope: "token",
      subject: String(other.id),
      period: "total",
      quota_limit: 100_000_000,
    });
    expect((await ask(other)).status).toBe(200);
    await expect.poll(async () => (await findBudget(probe.id))?.used).toBeGreaterThan(0);
    const price = (await findBudget(probe.id))?.used ?? 0;
    const cap = await adam.must<Budget>("POST", `/api/team/${team.id}/budget/`, {
      scope: "member",
      subject: "mia",
      period: "total",
      quota_limit: price * OWN_CALLS,
    });
    const answers = await Promise.all(Array.from({ length: PARALLEL }, () => ask(key)));
    // A reservation may be larger than the price: what was refused meanwhile finds its room afterwards.
    await gateway.settled();
    for (let at = 0; answers.at(-1)?.status === 200 || at < OWN_CALLS; at += 1) answers.push(await ask(key));
    const served = answers.filter(({ status }) => status === 200).length;
    expect(served).toBeLessThanOrEqual(OWN_CALLS);
    expect(served).toBeGreaterThan(0);
    await expect.poll(() => findBudget(cap.id)).toMatchObject({ used: price * served, held: 0 });
    const refused = answers.find(({ status }) => status !== 200);
    expect([refused?.status, refused?.text]).toEqual([403, expect.stringContaining("member mia of team Capped")]);
    expect((await ask(other)).status).toBe(200);
    await adam.must("PUT", `/api/team/${team.id}/budget/${cap.id}`, { quota_limit: 100_000_000 });
    expect((await ask(key)).status).toBe(200);
    await gateway.settled();
    const { raw } = gateway.database;
    expect([...(await checkBalances(raw, false)), ...(await checkLedgerSums(raw))]).toEqual([]);
  }, 120_000);
});
