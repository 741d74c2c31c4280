// A key of a team: its wallet pays, its settings apply, and refusals name it in every protocol.
import { signIn, type Session } from "@fairway/testkit";
import type { LogPage, TeamToken, TeamView } from "@fairway/wire";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { checkLedgerSums } from "../../../src/billing/audit/sums.ts";
import { checkBalances } from "../../../src/billing/audit/balances.ts";
import { chat, startRelayApp, type RelayApp } from "../../kit/relay-app.ts";

let gateway: RelayApp;
let mia: Session;
let miaId: number;
let made = 0;

beforeAll(async () => {
  gateway = await startRelayApp();
  const { root, url } = gateway;
  await root.must("POST", "/api/user/", { username: "mia", password: "a good password" });
  mia = await signIn(url, "mia", "a good password");
  miaId = mia.userId;
  await gateway.channel("team-model,team-other");
});

afterAll(() => gateway.close());
afterEach(async () => {
  await gateway.settled();
  const { raw } = gateway.database;
  expect([...(await checkBalances(raw, false)), ...(await checkLedgerSums(raw))]).toEqual([]);
});

async function startTeam(quota: number, settings: object = {}): Promise<TeamView> {
  const { root } = gateway;
  made += 1;
  const team = await root.must<TeamView>("POST", "/api/team/", { name: `Team ${made}`, settings });
  await root.must("POST", `/api/team/${team.id}/members`, { username: "mia", role: "member" });
  if (quota > 0) await root.must("POST", `/api/team/${team.id}/adjust`, { quota });
  return team;
}

const makeKey = async (team: TeamView, more: object = {}): Promise<TeamToken> =>
  mia.must<TeamToken>("POST", `/api/team/${team.id}/token/`, { name: "app", unlimited_quota: true, ...more });

const ask = (key: string, model = "team-model", more: object = {}) =>
  gateway.post("/v1/chat/completions", chat(model, more), key);

interface OpenAiError {
  readonly error: { readonly code: string; readonly message: string; readonly param: string; readonly entity: object };
}

async function readError(asked: Promise<Response>): Promise<readonly [number, OpenAiError["error"]]> {
  const response = await asked;
  return [response.status, ((await response.json()) as OpenAiError).error];
}

const readAccount = async (id: number) => {
  await gateway.settled();
  const [row] = await gateway.database.raw.rows("select quota, used_quota, request_count from users where id = ?", [
    id,
  ]);
  return row as { quota: number; used_quota: number; request_count: number };
};

describe("the wallet pays", () => {
  it("for a key of a service account until the account is off, and its maker may leave", async () => {
    const team = await startTeam(1_000_000);
    await gateway.root.must("PUT", `/api/team/${team.id}/members/${miaId}`, { role: "admin" });
    const account = await mia.must<{ id: number }>("POST", `/api/team/${team.id}/service_account/`, { name: "CI" });
    const key = await makeKey(team, { service_account_id: account.id });
    await mia.must("POST", `/api/team/${team.id}/leave`, {});
    expect((await ask(key.key)).status).toBe(200);
    await gateway.settled();
    const rows = await gateway.database.raw.rows("select actor from logs where user_id = ? and type = 2", [
      team.account_id,
    ]);
    expect(rows).toEqual([{ actor: `s${account.id}` }]);
    await gateway.root.must("PUT", `/api/team/${team.id}/service_account/${account.id}`, { status: 2 });
    expect(await readError(ask(key.key))).toMatchObject([401, { code: "token_disabled" }]);
  });

  it("and neither balance, use, nor log of the member changes", async () => {
    const team = await startTeam(1_000_000);
    const key = await makeKey(team);
    const before = await readAccount(miaId);
    const answer = await ask(key.key);
    expect(answer.status).toBe(200);
    await answer.text();
    expect(await readAccount(miaId)).toEqual(before);
    const wallet = await readAccount(team.account_id);
    expect(wallet.request_count).toBe(1);
    expect(wallet.quota + wallet.used_quota).toBe(1_000_000);
    expect(wallet.used_quota).toBeGreaterThan(0);
    const rows = await gateway.database.raw.rows(
      "select username, actor, account_kind, quota from logs where user_id = ? and type = 2",
      [team.account_id],
    );
    expect(rows).toEqual([{ username: team.name, actor: `u${miaId}`, account_kind: 1, quota: wallet.used_quota }]);
    expect((await mia.must<LogPage>("GET", "/api/log/self")).items).toEqual([]);
    const own = await mia.must<LogPage>("GET", `/api/team/${team.id}/log?type=2`);
    expect(own.items).toHaveLength(1);
    const stat = await mia.must<{ quota: number }>("GET", `/api/team/${team.id}/log/stat`);
    expect(stat.quota).toBe(wallet.used_quota);
  });

  it("for a stream that its maker leaves behind, and for no further call", async () => {
    const team = await startTeam(1_000_000);
    const key = await makeKey(team);
    const stream = await ask(key.key, "team-model", { stream: true });
    expect(stream.status).toBe(200);
    await mia.must("POST", `/api/team/${team.id}/leave`, {});
    expect(await stream.text()).toContain("[DONE]");
    expect((await readAccount(team.account_id)).used_quota).toBeGreaterThan(0);
    const [status, error] = await readError(ask(key.key));
    expect([status, error.code]).toEqual([401, "token_disabled"]);
    expect(error.message).toContain(`This API key is disabled: its maker left the team ${team.name}.`);
    expect(error.entity).toEqual({ scope: "team", name: team.name });
  });
});

describe("refusals name the team", () => {
  it("whose balance is too low, in every protocol", async () => {
    const team = await startTeam(0);
    const { key } = await makeKey(team);
    const [status, error] = await readError(ask(key));
    expect([status, error.code, error.param]).toEqual([403, "insufficient_team_quota", "team"]);
    expect(error.message).toMatch(new RegExp(`^The balance of team ${team.name} is too low: .* needed, .* left`));
    expect(error.entity).toEqual({ scope: "team", name: team.name });
    const anthropic = await gateway.post(
      "/v1/messages",
      { model: "team-model", max_tokens: 5, messages: [{ role: "user", content: "hi" }] },
      key,
    );
    expect([anthropic.status, await anthropic.text()]).toEqual([402, expect.stringContaining(`team ${team.name}`)]);
    const gemini = await gateway.post(
      "/v1beta/models/team-model:generateContent",
      { contents: [{ parts: [{ text: "hi" }] }] },
      key,
    );
    expect([gemini.status, await gemini.text()]).toEqual([403, expect.stringContaining(`team ${team.name}`)]);
  });

  it("that is off or deleted", async () => {
    const team = await startTeam(1_000_000);
    const { key } = await makeKey(team);
    const { root } = gateway;
    await root.must("PUT", `/api/team/${team.id}`, { status: 2 });
    const off = await readError(ask(key));
    expect([off[0], off[1].code]).toEqual([403, "team_disabled"]);
    await root.must("PUT", `/api/team/${team.id}`, { status: 1 });
    await (await ask(key)).text();
    await root.must("DELETE", `/api/team/${team.id}?confirm=${team.slug}`);
    expect((await readError(ask(key)))[1].code).toBe("team_disabled");
    await root.must("POST", `/api/team/${team.id}/restore`, {});
    expect((await ask(key)).status).toBe(200);
  });

  it("that may not use a model, a channel or a group", async () => {
    const { root } = gateway;
    const channelId = await gateway.channel("team-elsewhere");
    const team = await startTeam(1_000_000, { models: ["team-mod*", "team-elsewhere"] });
    const { key } = await makeKey(team);
    const refused = await readError(ask(key, "team-other"));
    expect([refused[0], refused[1].code]).toEqual([403, "model_not_allowed"]);
    expect(refused[1].message).toContain(`The team ${team.name} may not use the model team-other.`);
    expect((await ask(key, "team-elsewhere")).status).toBe(200);
    const list = await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    expect(((await list.json()) as { data: { id: string }[] }).data.map(({ id }) => id)).toEqual([
      "team-elsewhere",
      "team-model",
    ]);
    await root.must("PUT", `/api/team/${team.id}`, { settings: { channels: [channelId] } });
    expect((await readError(ask(key)))[1].code).toBe("model_not_allowed");
    expect((await ask(key, "team-elsewhere")).status).toBe(200);
    await root.must("PUT", `/api/team/${team.id}`, { settings: { groups: ["nowhere"] } });
    const group = await readError(ask(key, "team-elsewhere"));
    expect([group[0], group[1].code]).toEqual([403, "group_not_allowed"]);
    expect(group[1].message).toContain(`The team ${team.name} may not use the group nowhere.`);
  });

  it("or the member whose limit is reached", async () => {
    const team = await startTeam(1_000_000, { member_limits: { rpm: 2 } });
    const [one, other] = [await makeKey(team), await makeKey(team)];
    for (const { key } of [one, other]) expect((await ask(key)).status).toBe(200);
    const [status, error] = await readError(ask(one.key));
    expect([status, error.code, error.param]).toEqual([429, "rate_limit_exceeded", "member"]);
    expect(error.message).toMatch(new RegExp(`^Too many requests of member mia of team ${team.name}; retry after`));
    await gateway.root.must("PUT", `/api/team/${team.id}`, {
      settings: { member_limits: {}, limits: { rpm: 1 } },
    });
    const shared = await startTeam(1_000_000, { limits: { rpm: 1 } });
    const { key } = await makeKey(shared);
    expect((await ask(key)).status).toBe(200);
    expect((await readError(ask(key)))[1].message).toMatch(new RegExp(`^Too many requests of team ${shared.name};`));
  });
});

it("the balance calls of old clients speak of the wallet", async () => {
  const team = await startTeam(500_000);
  const { key } = await makeKey(team);
  await gateway.option("DisplayTokenStatEnabled", false);
  const headers = { authorization: `Bearer ${key}` };
  const answer = await fetch(`${gateway.url}/v1/dashboard/billing/subscription`, { headers });
  expect(await answer.json()).toMatchObject({ hard_limit_usd: 1 });
  await gateway.option("DisplayTokenStatEnabled", true);
});
