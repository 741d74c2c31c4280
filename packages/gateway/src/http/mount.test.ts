import { request } from "node:http";
import { endpoint, idParams, queryInt, queryText, statusOnly, type Endpoint } from "@fairway/wire";
import { createDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod/mini";
import { ApiCaller } from "../../test/api-caller.ts";
import { startManagementApp, type ManagementApp } from "../../test/management-app.ts";
import { manualClock, recordingLog } from "../../test/support.ts";
import { AppError } from "../lib/app-error.ts";
import { parseNetwork } from "../lib/ip.ts";
import { Refusal } from "../lib/refusal.ts";
import { implement, type Route } from "./endpoint.ts";
import { createRouteTable } from "./route-table.ts";

const base = { access: "none", summary: "" } as const;

const echo = endpoint({
  ...base,
  name: "echo",
  method: "POST",
  path: "/api/probe/echo",
  body: z.object({
    text: z.optional(z.string().check(z.maxLength(3))),
    count: z.optional(z.int().check(z.minimum(1), z.maximum(9))),
    amount: z.optional(z.number()),
    flag: z.optional(z.boolean()),
    ids: z.optional(z.array(z.int())),
    names: z.optional(z.array(z.string())),
    map: z.optional(z.record(z.string(), z.string())),
  }),
  data: z.unknown(),
});
const listBody = endpoint({ ...base, name: "listBody", method: "PUT", path: "/api/probe/list", body: z.array(z.object({ key: z.string() })), data: z.unknown() });
const query = endpoint({ ...base, name: "query", method: "GET", path: "/api/probe/query/", query: z.object({ p: queryInt, keyword: queryText }), data: z.unknown() });
const byId = endpoint({ ...base, name: "byId", method: "GET", path: "/api/probe/{id}", params: idParams, data: z.int() });
const literal = endpoint({ ...base, name: "literal", method: "GET", path: "/api/probe/search", data: z.string() });
const full = endpoint({ ...base, name: "full", method: "PUT", path: "/api/probe/thing", body: z.object({}), data: z.string() });
const narrow = endpoint({ ...base, name: "narrow", method: "PUT", path: "/api/probe/thing", query: statusOnly, body: z.object({}), data: z.string() });
const broken = endpoint({ ...base, name: "broken", method: "GET", path: "/api/probe/broken", data: z.string() });
const adminOnly = endpoint({ ...base, name: "adminOnly", access: "admin", method: "GET", path: "/api/probe/admin", data: z.string() });
const userOnly = endpoint({ ...base, name: "userOnly", access: "user", method: "GET", path: "/api/probe/user", data: z.int() });
const tried = endpoint({ ...base, name: "tried", access: "try", method: "GET", path: "/api/probe/try", data: z.string() });
const critical = endpoint({ ...base, name: "critical", rate: "critical", method: "GET", path: "/api/probe/critical", data: z.string() });
const withEffects = endpoint({ ...base, name: "withEffects", method: "GET", path: "/api/probe/effects", data: z.string(), hasEffects: true });
const open = endpoint({ ...base, name: "open", method: "GET", path: "/api/probe/open", access: "key", data: z.string(), isCrossOrigin: true });
const navigated = endpoint({ ...base, name: "navigated", access: "user", method: "GET", path: "/api/probe/navigated", data: z.string(), withoutUserHeader: true });
const big = endpoint({ ...base, name: "big", method: "GET", path: "/api/probe/big", data: z.string() });
const extras = endpoint({ ...base, name: "extras", method: "GET", path: "/api/probe/extras", data: z.array(z.int()) });
const plain = endpoint({ ...base, name: "plain", method: "GET", path: "/api/probe/plain", answer: "text", data: z.string() });

const routes: Route[] = [
  implement(echo, ({ body }) => ({ ...body })),
  implement(listBody, ({ body }) => body),
  implement(query, (call) => call.query),
  implement(byId, ({ params }) => params.id),
  implement(literal, () => "literal"),
  implement(full, () => "full"),
  implement(narrow, () => "narrow"),
  implement(broken, () => {
    throw new Error("SELECT password FROM users");
  }),
  implement(adminOnly, () => "ok"),
  implement(userOnly, ({ caller }) => caller.userId),
  implement(tried, ({ caller }) => caller?.username ?? "nobody"),
  implement(critical, () => "ok"),
  implement(withEffects, () => "done"),
  implement(open, () => {
    throw new AppError("missing_api_key");
  }),
  implement(navigated, () => "ok"),
  implement(big, () => "x".repeat(5000)),
  implement(extras, (call) => {
    call.setTotal(42);
    call.sibling("time", 1.5);
    call.message("done");
    return [];
  }),
  implement(plain, () => "success"),
];

let app: ManagementApp;
const { log, lines } = recordingLog();

beforeAll(async () => {
  app = await startManagementApp({ url: await createDatabase("sqlite"), routes, log });
});
afterAll(() => app.close());

describe("transport", () => {
  test("answers with and without one trailing slash, never with a redirect", async () => {
    for (const path of ["/api/probe/query", "/api/probe/query/", "/api/probe/7", "/api/probe/7/"]) {
      expect((await app.anonymous().get(path)).status).toBe(200);
    }
    expect((await app.anonymous().get("/api/probe/query//")).status).toBe(404);
    expect((await app.anonymous().get("/api//probe/query")).status).toBe(404);
  });

  test("prefers literal segments to parameters, also when the method differs", async () => {
    expect((await app.anonymous().get("/api/probe/search")).body["data"]).toBe("literal");
    expect((await app.anonymous().delete("/api/probe/search")).status).toBe(404);
  });

  test("says that a path or method does not exist, in both shapes", async () => {
    for (const [method, path] of [["GET", "/api/nothing"], ["PATCH", "/api/probe/7"], ["OPTIONS", "/api/probe/7"], ["GET", "/api"]] as const) {
      const reply = await app.anonymous().call(method, path, {});
      const message = `Invalid URL (${method} ${path})`;
      expect(reply.status).toBe(404);
      expect(reply.body).toMatchObject({ success: false, message, error: { message, type: "invalid_request_error", param: "", code: "" } });
    }
  });

  test("sends its headers", async () => {
    const { headers } = await app.anonymous().get("/api/probe/7");
    expect(headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(headers["cache-control"]).toBe("no-store");
    expect(headers["x-oneapi-request-id"]).toMatch(/^[0-9A-Z]{26}$/);
    expect(headers["x-request-id"]).toBe(headers["x-oneapi-request-id"]);
    expect(headers["x-content-type-options"]).toBe("nosniff");
    expect(headers["access-control-allow-origin"]).toBeUndefined();
    expect(headers["x-powered-by"]).toBeUndefined();
    const forged = await app.anonymous().get("/api/probe/7", { "x-request-id": "mine", "x-oneapi-request-id": "mine" });
    expect(forged.headers["x-request-id"]).not.toBe("mine");
  });

  test("compresses long answers for those who take it", async () => {
    const packed = await app.anonymous().get("/api/probe/big", { "accept-encoding": "br, gzip" });
    expect(packed.headers["content-encoding"]).toBe("gzip");
    expect(packed.body["data"]).toHaveLength(5000);
    expect((await app.anonymous().get("/api/probe/big")).headers["content-encoding"]).toBeUndefined();
    expect((await app.anonymous().get("/api/probe/big", { "accept-encoding": "gzip;q=0" })).headers["content-encoding"]).toBeUndefined();
  });

  test("answers HEAD like GET without a body, except where the GET changes something", async () => {
    const head = await app.anonymous().call("HEAD", "/api/probe/7", {});
    expect(head).toMatchObject({ status: 200, text: "" });
    expect((await app.anonymous().call("HEAD", "/api/probe/effects", {})).status).toBe(404);
  });

  test("lets other origins read only the calls that are meant for it", async () => {
    const preflight = await app.anonymous().call("OPTIONS", "/api/probe/open", { headers: { origin: "https://x.example" } });
    expect(preflight.status).toBe(204);
    expect(preflight.headers).toMatchObject({ "access-control-allow-origin": "*", "access-control-allow-headers": "Authorization" });
    expect(preflight.headers["access-control-allow-credentials"]).toBeUndefined();
    expect((await app.anonymous().get("/api/probe/open")).headers["access-control-allow-origin"]).toBe("*");
  });

  test("answers relay-key calls in the OpenAI shape", async () => {
    const reply = await app.anonymous().get("/api/probe/open");
    expect(reply.status).toBe(401);
    expect(reply.body["error"]).toMatchObject({ type: "invalid_request_error", param: null, code: "missing_api_key" });
    expect((reply.body["error"] as { message: string }).message).toContain(String(reply.headers["x-request-id"]));
  });

  test("passes totals, siblings, messages and plain texts on", async () => {
    const reply = await app.anonymous().get("/api/probe/extras");
    expect(reply.body).toEqual({ success: true, message: "done", data: [], time: 1.5 });
    expect(reply.headers["x-total-count"]).toBe("42");
    const text = await app.anonymous().get("/api/probe/plain");
    expect(text).toMatchObject({ status: 200, text: "success" });
    expect(text.headers["content-type"]).toContain("text/plain");
  });
});

describe("input", () => {
  const post = (body: unknown) => app.anonymous().post("/api/probe/echo", body);
  const put = (path: string, body: unknown) => app.anonymous().put(path, body);

  test.each(["{", "", "[1]", "1", '"x"', "null"])("G1 with 400 for the body %j", async (body) => {
    const reply = await post(body);
    expect(reply).toMatchObject({ status: 400, body: { success: false, message: "Invalid parameter.", code: "G1" } });
    expect(reply.body).not.toHaveProperty("data");
  });

  test("G7 for a body above 1 MiB, with and without a length, and the next connection works", async () => {
    const large = JSON.stringify({ text: "x".repeat(1024 * 1024) });
    expect(await post(large)).toMatchObject({ status: 413, body: { message: "Request body too large.", code: "G7" } });
    const chunked = await new Promise<number>((resolve, reject) => {
      const outgoing = request(`${app.baseUrl}/api/probe/echo`, { method: "POST" }, (incoming) => {
        incoming.resume();
        resolve(incoming.statusCode ?? 0);
      });
      outgoing.on("error", reject);
      outgoing.write(large);
      outgoing.end();
    });
    expect(chunked).toBe(413);
    expect((await post("{}")).status).toBe(200);
  });

  test.each([
    [{ text: 1 }, "text must be a string"],
    [{ text: "long" }, "text is too long"],
    [{ count: "1" }, "count must be an integer"],
    [{ count: 1.5 }, "count must be an integer"],
    [{ count: 0 }, "count must be at least 1"],
    [{ count: 10 }, "count must be at most 9"],
    [{ amount: "1" }, "amount must be a number"],
    [{ flag: "true" }, "flag must be a boolean"],
    [{ ids: 1 }, "ids must be an array of integers"],
    [{ ids: [1, "x"] }, "ids must be an array of integers"],
    [{ names: [1] }, "names must be an array of strings"],
    [{ map: [] }, "map must be a JSON object"],
    [{ map: { a: 1 } }, "map.a must be a string"],
  ])("G2 for %j", async (body, words) => {
    const reply = await post(body);
    expect(reply).toMatchObject({ status: 200, body: { success: false, message: `Invalid input: ${words}.`, code: "G2" } });
  });

  test("ignores unknown members and takes null for absent", async () => {
    expect((await post({ text: null, other: 1, count: 3, __proto__: { flag: true } })).body["data"]).toEqual({ count: 3 });
    expect((await post('{"__proto__":{"flag":true},"constructor":1}')).body["data"]).toEqual({});
  });

  test("takes a list only where the call wants one", async () => {
    expect((await put("/api/probe/list", [{ key: "a" }])).body["data"]).toEqual([{ key: "a" }]);
    expect((await put("/api/probe/list", { key: "a" })).status).toBe(200);
    expect((await put("/api/probe/list", { key: "a" })).body["code"]).toBe("G1");
  });

  test("reads unreadable query integers as 0 and trims texts", async () => {
    const reply = await app.anonymous().get("/api/probe/query?p=NaN&keyword=%20a%25b%20&keyword=second&__proto__=1");
    expect(reply.body["data"]).toEqual({ p: 0, keyword: "a%b" });
    expect((await app.anonymous().get("/api/probe/query?p=3")).body["data"]).toEqual({ p: 3, keyword: "" });
  });

  test.each(["0", "-1", "x", "1.5", "99999999999999999"])("G1 for the path id %s", async (id) => {
    expect(await app.anonymous().get(`/api/probe/${id}`)).toMatchObject({ status: 200, body: { code: "G1" } });
  });

  test("tells calls apart by their query, the narrower first", async () => {
    expect((await put("/api/probe/thing?status_only=true", {})).body["data"]).toBe("narrow");
    expect((await put("/api/probe/thing?status_only=1", {})).body["data"]).toBe("narrow");
    for (const query of ["", "?status_only=", "?status_only=0", "?status_only=false"]) {
      expect((await put(`/api/probe/thing${query}`, {})).body["data"]).toBe("full");
    }
  });
});

describe("errors", () => {
  test("show nothing internal and are logged with the request id", async () => {
    const reply = await app.anonymous().get("/api/probe/broken?key=secret-in-query");
    expect(reply).toMatchObject({
      status: 500,
      body: { success: false, message: "Internal server error, please contact the administrator!", code: "G4" },
    });
    expect(reply.text).not.toContain("SELECT");
    expect(lines()).toContain("SELECT password");
    expect(lines()).toContain(String(reply.headers["x-request-id"]));
    expect(lines()).not.toContain("secret-in-query");
  });
});

describe("who calls", () => {
  test("AU1, AU2 and the user header of sessions", async () => {
    const anonymous = app.anonymous();
    expect(await anonymous.get("/api/probe/user")).toMatchObject({ status: 401, body: { code: "AU1", message: "Not logged in or login has expired, please log in again!" } });
    expect(await anonymous.get("/api/probe/user", { authorization: "Bearer nonsense" })).toMatchObject({ status: 401, body: { code: "AU2" } });
    expect(await anonymous.get("/api/probe/user", { cookie: "session=unknown" })).toMatchObject({ status: 401, body: { code: "AU1" } });
    const root = await app.signIn("root");
    expect((await root.get("/api/probe/user")).body["data"]).toBe(root.userId);
    const id = root.userId;
    root.userId = 0;
    expect(await root.get("/api/probe/user")).toMatchObject({ status: 401, body: { code: "AU3" } });
    expect(await root.get("/api/probe/user", { "new-api-user": "abc" })).toMatchObject({ status: 401, body: { code: "AU4" } });
    expect(await root.get("/api/probe/user", { "new-api-user": "-1" })).toMatchObject({ status: 401, body: { code: "AU5" } });
    expect((await root.get("/api/probe/user", { "New-API-User": String(id) })).status).toBe(200);
  });

  test("access tokens need no user header, but a wrong one is refused", async () => {
    const root = await app.signIn("root");
    const token = await root.data<string>(root.get("/api/user/token"));
    const caller = app.anonymous();
    for (const form of [token, `Bearer ${token}`, `bearer  ${token}`]) {
      caller.accessToken = form;
      expect((await caller.get("/api/probe/user")).body["data"]).toBe(root.userId);
    }
    expect(await caller.get("/api/probe/user", { "new-api-user": "99" })).toMatchObject({ status: 401, body: { code: "AU5" } });
  });

  test("a session wins over an access token", async () => {
    const root = await app.signIn("root");
    expect((await root.get("/api/probe/user", { authorization: "nonsense" })).status).toBe(200);
  });

  test("personalised calls take a bad credential for none", async () => {
    expect((await app.anonymous().get("/api/probe/try", { authorization: "nonsense" })).body["data"]).toBe("nobody");
    const root = await app.signIn("root");
    root.userId = 0;
    expect((await root.get("/api/probe/try")).body["data"]).toBe("root");
  });

  test("navigations of the console's own pages may do without the header where that is allowed", async () => {
    const root = await app.signIn("root");
    root.userId = 0;
    const own = { "sec-fetch-mode": "navigate", "sec-fetch-site": "same-origin" };
    expect((await root.get("/api/probe/navigated", own)).status).toBe(200);
    expect((await root.get("/api/probe/user", own)).body["code"]).toBe("AU3");
    expect((await root.get("/api/probe/navigated", { ...own, "sec-fetch-site": "cross-site" })).body["code"]).toBe("AU3");
    expect((await root.get("/api/probe/navigated")).body["code"]).toBe("AU3");
  });

  test("prefetchers and writes of other sites are refused", async () => {
    const anonymous = app.anonymous();
    expect(await anonymous.get("/api/probe/effects", { "sec-purpose": "prefetch;prerender" })).toMatchObject({ status: 400, body: { code: "G1" } });
    expect((await anonymous.get("/api/probe/7", { "sec-purpose": "prefetch" })).status).toBe(200);
    expect(await anonymous.call("POST", "/api/probe/echo", { body: {}, headers: { "sec-fetch-site": "cross-site" } })).toMatchObject({ status: 400 });
    expect((await anonymous.call("POST", "/api/probe/echo", { body: {}, headers: { "sec-fetch-site": "same-origin" } })).status).toBe(200);
  });
});

describe("limits", () => {
  const rule = (name: string, limit: number) => ({ name, limit, windowMs: 180_000 });

  test("count addresses, users and the critical class, before anything else is checked", async () => {
    const clock = manualClock();
    const rules = { address: rule("a", 4), user: rule("u", 6), critical: rule("c", 2) };
    const limited = await startManagementApp({ url: await createDatabase("sqlite"), routes, clock, rules });
    try {
      const anonymous = limited.anonymous();
      expect((await anonymous.get("/api/probe/critical")).status).toBe(200);
      const root = await limited.signIn("root");
      expect((await anonymous.get("/api/probe/critical")).status).toBe(429);
      // The refused call was counted by its address all the same: it passed that limit.
      expect((await anonymous.get("/api/probe/admin")).status).toBe(401);
      const refused = await anonymous.get("/api/probe/admin");
      expect(refused).toMatchObject({ status: 429, body: { success: false, message: "Too many requests, please try again later!", code: "G3" } });
      expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
      for (let i = 0; i < 6; i++) expect((await root.get("/api/probe/user")).status).toBe(200);
      expect((await root.get("/api/probe/user")).status).toBe(429);
      clock.move(181);
      expect((await root.get("/api/probe/user")).status).toBe(200);
      expect((await anonymous.get("/api/probe/7")).status).toBe(200);
    } finally {
      await limited.close();
    }
  });

  test("believe forwarded addresses only of trusted proxies", async () => {
    const rules = { address: rule("a", 1) };
    const trusting = await startManagementApp({ url: await createDatabase("sqlite"), routes, rules, trustedProxies: [parseNetwork("127.0.0.0/8")!] });
    const wary = await startManagementApp({ url: await createDatabase("sqlite"), routes, rules });
    try {
      const from = (caller: ApiCaller, ip: string) => caller.get("/api/probe/7", { "x-forwarded-for": ip });
      expect((await from(trusting.anonymous(), "203.0.113.1")).status).toBe(200);
      expect((await from(trusting.anonymous(), "203.0.113.2")).status).toBe(200);
      expect((await from(trusting.anonymous(), "203.0.113.2")).status).toBe(429);
      expect((await from(wary.anonymous(), "203.0.113.1")).status).toBe(200);
      expect((await from(wary.anonymous(), "203.0.113.2")).status).toBe(429);
    } finally {
      await trusting.close();
      await wary.close();
    }
  });
});

describe("the route table", () => {
  const route = (change: Partial<Endpoint>): Route => ({ endpoint: { ...literal, ...change } as Endpoint, handler: () => "" });

  test("refuses an endpoint without a permission", () => {
    expect(() => createRouteTable([route({ access: undefined as never })])).toThrow(/names no permission/);
  });

  test("refuses an endpoint that is implemented twice", () => {
    expect(() => createRouteTable([route({}), route({ name: "again" })])).toThrow(/answer the same calls/);
    expect(() => createRouteTable([implement(narrow, () => ""), implement(narrow, () => ""), implement(full, () => "")])).toThrow(/implemented twice/);
  });

  test("refuses one path with two permissions", () => {
    const stricter = { endpoint: { ...narrow, access: "root" } as Endpoint, handler: () => "" };
    expect(() => createRouteTable([implement(full, () => ""), stricter])).toThrow(/another permission/);
  });
});

test("a refusal may carry siblings", () => {
  expect(new Refusal("CH12", { siblings: { time: 1 } }).siblings).toEqual({ time: 1 });
});
