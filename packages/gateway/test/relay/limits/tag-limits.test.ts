// Limits by values of tags and end users, of a token, of a user and of a team, in every protocol.
import type { TeamToken, TeamView, Token, User } from "@fairway/wire";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import WebSocket from "ws";
import { chat, readError, startRelayApp, type RelayApp } from "../../kit/relay-app.ts";

let gateway: RelayApp;

beforeAll(async () => {
  gateway = await startRelayApp();
  await gateway.channel("limited-model");
  await gateway.channel("claude-limited", { type: 14 });
  await gateway.channel("rt-limited");
  await gateway.option("TagPolicy", JSON.stringify({ keys: { app: {} } }));
});

afterAll(() => gateway.close());

type Sent = readonly [path: string, body: object];

const PATHS: readonly Sent[] = [
  ["/v1/chat/completions", chat("limited-model")],
  ["/v1/responses", { model: "limited-model", input: "hi" }],
  ["/v1/messages", { model: "claude-limited", max_tokens: 5, messages: [{ role: "user", content: "hi" }] }],
  ["/v1beta/models/limited-model:generateContent", { contents: [{ parts: [{ text: "hi" }] }] }],
  ["/v1/embeddings", { model: "limited-model", input: "hi" }],
];
const CHAT = PATHS[0] as Sent;

interface Named {
  readonly app?: string;
  readonly user?: string;
}

async function send(key: string, { app, user }: Named, [path, body]: Sent = CHAT): Promise<Response> {
  const headers = {
    authorization: `Bearer ${key}`,
    "content-type": "application/json",
    ...(app !== undefined && { "x-fairway-tags": `app=${app}` }),
    ...(user !== undefined && { "x-fairway-end-user": user }),
  };
  const response = await gateway.post(path, body, key, { headers });
  await response.clone().text();
  return response;
}

async function readStatuses(sent: readonly Promise<Response>[]): Promise<number[]> {
  const all = await Promise.all(sent);
  return all.map(({ status }) => status).toSorted((a, b) => a - b);
}

/** Resolves with an open session, or with the status that refused it. */
function openSession(key: string, user: string): Promise<WebSocket | number | undefined> {
  const url = `${gateway.url.replace("http", "ws")}/v1/realtime?model=rt-limited`;
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${key}`, "x-fairway-end-user": user } });
  return new Promise((resolve) => {
    socket.on("error", () => undefined);
    socket.once("open", () => resolve(socket));
    socket.once("unexpected-response", (request, answer) => {
      request.destroy();
      resolve(answer.statusCode);
    });
  });
}

describe("limits of a token by value", () => {
  it("admit exactly the requests of each end user, and name who is limited and when to try again", async () => {
    const key = await gateway.token({ tag_limits: { end_user: { "*": { rpm: 3 }, vip: {} } } });
    const expected = [200, 200, 200, 429, 429, 429, 429];
    for (const user of ["1", "2"])
      expect(await readStatuses(expected.map(() => send(key, { user })))).toEqual(expected);
    expect(await readStatuses(expected.map(() => send(key, { user: "vip" })))).toEqual(expected.map(() => 200));
    expect((await send(key, {})).status).toBe(200);
    const refused = await send(key, { user: "1" });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(30);
    expect(refused.headers.get("x-ratelimit-limit-requests")).toBe("3");
    const error = await readError(refused);
    expect(error).toMatchObject({ code: "rate_limit_exceeded", param: "end_user", type: "rate_limit_error" });
    expect(error.message).toMatch(
      /^Limit of the end user 1 reached: 3 requests per minute, 3 used; retry after \d+ s\. /,
    );
  });

  it("count a tag in all its places, and other values and tokens apart", async () => {
    const key = await gateway.token({ tag_limits: { app: { shop: { rpm: 1 } } } });
    expect((await send(key, { app: "shop" })).status).toBe(200);
    const body = chat("limited-model", { metadata: { app: "shop" } });
    const refused = await send(key, {}, ["/v1/chat/completions", body]);
    const error = await readError(refused);
    expect(error).toMatchObject({ param: "tag" });
    expect(error.message).toContain("Limit of the tag app=shop reached: 1 requests per minute");
    expect((await send(key, { app: "crm" })).status).toBe(200);
    expect((await send(await gateway.token(), { app: "shop" })).status).toBe(200);
  });

  it("refuse blocked values before anything is sent, in the caller's protocol", async () => {
    const key = await gateway.token({
      tag_limits: { end_user: { "42": { blocked: true } }, app: { "*": { blocked: true }, shop: {} } },
    });
    const before = gateway.upstream.requests.length;
    for (const one of PATHS) {
      const answer = await send(key, { user: "42" }, one);
      expect([one[0], answer.status, await answer.text()]).toEqual([
        one[0],
        403,
        expect.stringContaining("Calls of the end user 42 are blocked for this key."),
      ]);
      expect(answer.headers.get("retry-after")).toBeNull();
    }
    expect(await readError(await send(key, { user: "42" }))).toMatchObject({ code: "end_user_blocked" });
    expect(await readError(await send(key, { app: "crm" }))).toMatchObject({ code: "tag_blocked", param: "tag" });
    expect(gateway.upstream.requests.length).toBe(before);
    expect((await send(key, { app: "shop", user: "43" })).status).toBe(200);
  });

  it("hold for realtime sessions too", async () => {
    const key = await gateway.token({ tag_limits: { end_user: { a: { concurrency: 1 }, b: { blocked: true } } } });
    const first = await openSession(key, "a");
    expect([await openSession(key, "a"), await openSession(key, "b")]).toEqual([429, 403]);
    (first as WebSocket).terminate();
    await expect
      .poll(async () => {
        const again = await openSession(key, "a");
        if (again instanceof WebSocket) again.terminate();
        return again instanceof WebSocket;
      })
      .toBe(true);
    await gateway.settled();
  });
});

describe("drawings", () => {
  it("have the limits and the budgets of their tags and end users", async () => {
    await gateway.option("ModelPrice", JSON.stringify({ mj_imagine: 0.1 }));
    let made = 0;
    gateway.upstream.script("/mj/submit/imagine", () => ({
      body: { code: 1, description: "ok", result: `task-${(made += 1)}` },
    }));
    await gateway.channel("mj_imagine", { type: 2 });
    const limits = { "*": { rpm: 1 }, b: { blocked: true }, poor: {} };
    const key = await gateway.token({ tag_limits: { end_user: limits } });
    const draw: Sent = ["/mj/submit/imagine", { prompt: "a cat" }];
    const budget = { scope: "end_user", subject: "root/poor", period: "month", quota_limit: 1 };
    await gateway.root.must("POST", "/api/budget/", budget);
    const read = async (user: string) => (await send(key, { user }, draw)).status;
    expect([await read("a"), await read("a"), await read("c")]).toEqual([200, 429, 200]);
    expect([await read("b"), await read("poor")]).toEqual([403, 403]);
    expect(made).toBe(2);
  });
});

describe("limits of an account by value", () => {
  it("count over all tokens of a user, and those of a token count too", async () => {
    const { root } = gateway;
    const made = { username: "tagged", password: "a-long-password", display_name: "t" };
    await root.must("POST", "/api/user/", made);
    const [user] = await root.must<User[]>("GET", "/api/user/search?keyword=tagged");
    const tag_limits = { app: { "*": { rpm: 2 } } };
    await root.must("PUT", "/api/user/", { id: user?.id, tag_limits });
    await root.must("POST", "/api/user/manage", { id: user?.id, action: "add_quota", value: 50_000_000 });
    expect(await root.must("GET", `/api/user/${user?.id}`)).toMatchObject({ tag_limits });
    const own = async (more: Parameters<typeof gateway.token>[0]) => {
      const key = await gateway.token(more);
      const moved = gateway.database.db.updateTable("tokens").set({ user_id: user?.id ?? 0 });
      const last = await gateway.database.db.selectFrom("tokens").select("id").orderBy("id", "desc").executeTakeFirst();
      await moved.where("id", "=", last?.id ?? 0).execute();
      return key;
    };
    const first = await own({ tag_limits: { app: { one: { rpm: 1 } } } });
    const second = await own({});
    expect((await send(first, { app: "one" })).status).toBe(200);
    expect((await send(first, { app: "one" })).status).toBe(429);
    expect((await send(second, { app: "one" })).status).toBe(200);
    expect((await send(second, { app: "one" })).status).toBe(429);
    await root.must("PUT", "/api/user/", { id: user?.id, display_name: "still" });
    expect((await send(second, { app: "one" })).status).toBe(429);
    await root.must("PUT", "/api/user/", { id: user?.id, tag_limits: {} });
    expect((await send(second, { app: "one" })).status).toBe(200);
  });

  it("of a team hold for all of its keys", async () => {
    const { root } = gateway;
    const team = await root.must<TeamView>("POST", "/api/team/", { name: "Limited" });
    await root.must("POST", `/api/team/${team.id}/adjust`, { quota: 50_000_000 });
    const settings = { tag_limits: { end_user: { "*": { rpm: 2 }, "9": { blocked: true } } } };
    const changed = await root.must<TeamView>("PUT", `/api/team/${team.id}`, { settings });
    expect(changed.settings.tag_limits).toEqual(settings.tag_limits);
    const makeKey = async () => {
      const path = `/api/team/${team.id}/token/`;
      return `sk-${(await root.must<TeamToken>("POST", path, { name: "app", unlimited_quota: true })).key}`;
    };
    const [one, other] = [await makeKey(), await makeKey()];
    const expected = [200, 200, 429, 429];
    const sent = expected.map((_, at) => send(at % 2 === 0 ? one : other, { user: "1" }));
    expect(await readStatuses(sent)).toEqual(expected);
    expect((await send(one, { user: "9" })).status).toBe(403);
  });
});

describe("the API", () => {
  it("keeps limits over edits that leave them out, drops them for an empty object, and says what is wrong", async () => {
    const { root } = gateway;
    const tag_limits = { end_user: { "*": { rpm: 20 }, "a|b=c": { blocked: true } }, app: { shop: { tpm: 5 } } };
    const { id } = await root.must<Token>("POST", "/api/token/", { name: "listed", tag_limits });
    const read = async () => (await root.must<Token>("GET", `/api/token/${id}`)).tag_limits;
    expect(await read()).toEqual(tag_limits);
    await root.must("PUT", "/api/token/", { id, name: "renamed" });
    expect(await read()).toEqual(tag_limits);
    const values = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`v${at}`, {}]));
    for (const [wrong, reason] of [
      [{ App: {} }, "has a key other than"],
      [{ app: { "a=b": {} } }, "must be 1 to 64 characters"],
      [{ app: { shop: { rps: 1 } } }, "rps"],
      [{ app: { shop: { rpm: 0 } } }, "at least 1"],
      [{ app: values(1_001) }, "more than 1000"],
      [values(17), "too many keys"],
    ] as const) {
      const answer = JSON.stringify(await root.call("PUT", "/api/token/", { id, name: "renamed", tag_limits: wrong }));
      expect(answer).toContain(reason);
      expect(answer).toContain("tag_limits");
    }
    expect(await read()).toEqual(tag_limits);
    await root.must("PUT", "/api/token/", { id, name: "renamed", tag_limits: {} });
    expect(await read()).toEqual({});
  });
});
