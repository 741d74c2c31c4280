import {
  channelGet,
  channelList,
  channelTest,
  channelUpdate,
  logout,
  notice,
  selfConfirm,
  selfDelete,
} from "@fairway/wire";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { buildUrl, call, callLast, rememberUser, request, whenProofNeeded, whenSignedOut } from "./http.ts";
import { ApiProblem, HttpProblem, isStale, OfflineProblem } from "./problems.ts";
import { readRows } from "./rows.ts";
import { stored } from "./storage.ts";

interface Reply {
  status?: number;
  headers?: Record<string, string>;
  body: string;
}

let server: Server;
let reply: Reply;
let seen: { method: string; url: string; user: string | undefined; ifMatch: string | undefined }[];
const browserFetch = globalThis.fetch;

beforeAll(async () => {
  const values = new Map<string, string>();
  Object.defineProperty(globalThis, "localStorage", {
    configurable: true,
    value: {
      getItem: (name: string) => values.get(name) ?? null,
      setItem: (name: string, value: string) => values.set(name, value),
      removeItem: (name: string) => values.delete(name),
    },
  });
  server = createServer((incoming, response) => {
    seen.push({
      method: incoming.method ?? "",
      url: incoming.url ?? "",
      user: incoming.headers["new-api-user"]?.toString(),
      ifMatch: incoming.headers["if-match"],
    });
    response.writeHead(reply.status ?? 200, { "content-type": "application/json", ...reply.headers }).end(reply.body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  // A browser resolves paths against the page's address.
  globalThis.fetch = (path, init) => browserFetch(new URL(path as string, base), init);
});

afterAll(() => {
  globalThis.fetch = browserFetch;
  server.close();
});

beforeEach(() => {
  seen = [];
  reply = { body: '{"success":true,"message":"","data":[]}' };
  stored.user.write({ id: 7, username: "ada", display_name: "", role: 10, status: 1, group: "default" });
});

test("addresses fill the path and leave out empty filters", () => {
  expect(buildUrl(channelGet, { params: { id: 5 } })).toBe("/api/channel/5");
  expect(buildUrl(channelList, { query: { p: 0, keyword: "", model: "a&b", id_sort: false } })).toBe(
    "/api/channel/?p=0&model=a%26b&id_sort=false",
  );
});

test("every call names the user, and public ones -1 without a user (C-008)", async () => {
  reply = { body: '{"success":true,"message":"","data":""}' };
  await call(notice, {});
  stored.user.write(undefined);
  await call(notice, {});
  expect(seen.map((entry) => entry.user)).toEqual(["7", "-1"]);
});

test("a browser whose storage was emptied continues as the user of the page", async () => {
  stored.user.write(undefined);
  rememberUser(() => 9);
  await call(channelList, {});
  rememberUser(() => undefined);
  expect(seen.map((entry) => entry.user)).toEqual(["9"]);
});

test("does not send calls that need a user without one; only actions prompt to sign in", async () => {
  let times = 0;
  whenSignedOut(() => (times += 1));
  stored.user.write(undefined);
  await expect(call(channelList, {})).rejects.toMatchObject({ status: 401 });
  expect(times).toBe(0);
  await expect(call(channelUpdate, { body: { id: 1 } })).rejects.toMatchObject({ status: 401 });
  expect(times).toBe(1);
  expect(seen).toEqual([]);
});

test("sends nothing after the call that ends the session, and continues when it fails", async () => {
  const forget = () => stored.user.write(undefined);
  reply = { status: 500, body: "{}" };
  const failing = callLast(logout, {}, forget);
  const waiting = call(channelList, {});
  await expect(failing).rejects.toMatchObject({ status: 500 });
  await expect(waiting).rejects.toMatchObject({ status: 500 });
  reply = { body: '{"success":true,"message":"","data":[]}' };
  const logoutCall = callLast(logout, {}, forget);
  await expect(call(channelList, {})).rejects.toMatchObject({ status: 401 });
  await logoutCall;
  expect(seen.map(({ url }) => url)).toEqual(["/api/user/logout", "/api/channel/", "/api/user/logout"]);
});

test("a call that ends the session can be confirmed first", async () => {
  const confirmed = { body: '{"success":true,"message":""}' };
  whenProofNeeded(async () => {
    reply = confirmed;
    await call(selfConfirm, { body: { password: "secret" } });
    return true;
  });
  reply = { body: '{"success":false,"message":"confirm","code":"AU10"}' };
  await callLast(selfDelete, {}, () => stored.user.write(undefined));
  expect(seen.map(({ url }) => url)).toEqual(["/api/user/self", "/api/user/self/confirm", "/api/user/self"]);
});

test("retains totals and siblings of the envelope", async () => {
  reply = { headers: { "x-total-count": "37" }, body: '{"success":true,"message":"ok","time":0.84}' };
  const answer = await request(channelTest, { params: { id: 1 } });
  expect(answer).toMatchObject({ total: 37, message: "ok", siblings: { time: 0.84 } });
});

test("sends the tag that was read with the edit and recognises its refusal", async () => {
  reply = { headers: { etag: '"7"' }, body: '{"success":true,"message":"","data":[]}' };
  const { tag } = await request(channelList, {});
  await request(channelList, { ifMatch: tag });
  expect(seen.map(({ ifMatch }) => ifMatch)).toEqual([undefined, '"7"']);
  const catchProblem = async (code: string) => {
    reply = { body: JSON.stringify({ success: false, message: "no", code }) };
    return call(channelList, { ifMatch: tag }).catch((error: unknown) => error);
  };
  expect([await catchProblem("G8"), await catchProblem("CH20"), await catchProblem("K1")].map(isStale)).toEqual([
    true,
    true,
    false,
  ]);
});

test("a refusal carries its message, code and field", async () => {
  reply = { body: '{"success":false,"message":"Please select at least one model!","code":"CH2","field":"models"}' };
  const problem = await call(channelList, {}).catch((error: unknown) => error);
  expect(problem).toBeInstanceOf(ApiProblem);
  expect(problem).toMatchObject({
    message: "Please select at least one model!",
    key: "channel_models_missing",
    field: "models",
  });
});

test("reports a lost session once and other failures never as one", async () => {
  let times = 0;
  whenSignedOut(() => {
    times += 1;
    stored.user.write(undefined);
  });
  reply = { status: 401, body: '{"success":false,"message":"Not logged in"}' };
  await expect(call(channelList, {})).rejects.toBeInstanceOf(HttpProblem);
  await expect(call(channelList, {})).rejects.toBeInstanceOf(HttpProblem);
  reply = { status: 500, body: "<html>" };
  await expect(call(notice, {})).rejects.toMatchObject({ status: 500 });
  expect(times).toBe(1);
});

test("a rate limit names the seconds to wait", async () => {
  reply = { status: 429, headers: { "retry-after": "12", "x-oneapi-request-id": "abc" }, body: "{}" };
  await expect(call(channelList, {})).rejects.toMatchObject({ status: 429, retryAfter: 12, requestId: "abc" });
});

test("a page of a proxy is no answer, even with status 200", async () => {
  reply = { body: "<html>captive portal</html>" };
  await expect(call(channelList, {})).rejects.toBeInstanceOf(HttpProblem);
});

test("no answer at all is an offline problem", async () => {
  const withServer = globalThis.fetch;
  globalThis.fetch = () => browserFetch("http://127.0.0.1:1/");
  try {
    await expect(call(channelList, {})).rejects.toBeInstanceOf(OfflineProblem);
  } finally {
    globalThis.fetch = withServer;
  }
});

test("a change that wants a confirmation is sent again after it, and refused without it", async () => {
  const refusal = '{"success":false,"message":"Please confirm","code":"AU10"}';
  reply = { body: refusal };
  whenProofNeeded(() => Promise.resolve(false));
  await expect(call(channelList, {})).rejects.toMatchObject({ key: "confirmation_required" });
  expect(seen).toHaveLength(1);
  whenProofNeeded(() => {
    reply = { body: '{"success":true,"message":"","data":[]}' };
    return Promise.resolve(true);
  });
  reply = { body: refusal };
  expect(await call(channelList, {})).toEqual([]);
  expect(seen).toHaveLength(3);
  whenProofNeeded(() => Promise.resolve(true));
  reply = { body: refusal };
  await expect(call(channelList, {})).rejects.toMatchObject({ key: "confirmation_required" });
  expect(seen).toHaveLength(5);
});

test("a list is what the server sends, null is an empty one, and anything else is a failure", async () => {
  reply = { body: '{"success":true,"message":"","data":null}' };
  expect(await readRows(channelList, {})).toMatchObject({ rows: [] });
  reply = { body: '{"success":true,"message":"","data":{"items":[]}}' };
  await expect(readRows(channelList, {})).rejects.toBeInstanceOf(HttpProblem);
});
