import { createDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ApiCaller } from "../../test/kit/api-caller.ts";
import { ROOT_PASSWORD, startManagementApp, type ManagementApp } from "../../test/kit/management-app.ts";
import { probeRoutes } from "../../test/kit/probe-routes.ts";
import { manualClock } from "../../test/kit/support.ts";
import { parseNetwork } from "../lib/net/ip.ts";

let app: ManagementApp;
beforeAll(async () => {
  app = await startManagementApp({ url: await createDatabase("sqlite"), routes: probeRoutes });
});
afterAll(() => app.close());

describe("who calls", () => {
  test("AU1, AU2 and the user header of sessions", async () => {
    const anonymous = app.anonymous();
    expect(await anonymous.get("/api/probe/user")).toMatchObject({
      status: 401,
      body: { code: "AU1", message: "Not logged in or login has expired, please log in again!" },
    });
    expect(await anonymous.get("/api/probe/user", { authorization: "Bearer nonsense" })).toMatchObject({
      status: 401,
      body: { code: "AU2" },
    });
    expect(await anonymous.get("/api/probe/user", { cookie: "session=unknown" })).toMatchObject({
      status: 401,
      body: { code: "AU1" },
    });
    const root = await app.signIn("root");
    expect((await root.get("/api/probe/user")).body["data"]).toBe(root.userId);
    const id = root.userId;
    root.userId = 0;
    expect(await root.get("/api/probe/user")).toMatchObject({ status: 401, body: { code: "AU3" } });
    expect(await root.get("/api/probe/user", { "new-api-user": "abc" })).toMatchObject({
      status: 401,
      body: { code: "AU4" },
    });
    expect(await root.get("/api/probe/user", { "new-api-user": "-1" })).toMatchObject({
      status: 401,
      body: { code: "AU5" },
    });
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
    expect(await caller.get("/api/probe/user", { "new-api-user": "99" })).toMatchObject({
      status: 401,
      body: { code: "AU5" },
    });
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
    expect((await root.get("/api/probe/navigated", { ...own, "sec-fetch-site": "cross-site" })).body["code"]).toBe(
      "AU3",
    );
    expect((await root.get("/api/probe/navigated")).body["code"]).toBe("AU3");
  });

  test("prefetchers and writes of other sites are refused", async () => {
    const anonymous = app.anonymous();
    expect(await anonymous.get("/api/probe/effects", { "sec-purpose": "prefetch;prerender" })).toMatchObject({
      status: 400,
      body: { code: "G1" },
    });
    expect((await anonymous.get("/api/probe/7", { "sec-purpose": "prefetch" })).status).toBe(200);
    expect((await anonymous.get("/api/probe/effects", { "sec-fetch-site": "cross-site" })).status).toBe(400);
    expect((await anonymous.get("/api/probe/7", { "sec-fetch-site": "cross-site" })).status).toBe(200);
    expect(
      await anonymous.call("POST", "/api/probe/echo", { body: {}, headers: { "sec-fetch-site": "cross-site" } }),
    ).toMatchObject({ status: 400 });
    expect(
      (await anonymous.call("POST", "/api/probe/echo", { body: {}, headers: { "sec-fetch-site": "same-origin" } }))
        .status,
    ).toBe(200);
  });
});

describe("limits", () => {
  const rule = (name: string, limit: number) => ({ name, limit, windowMs: 180_000 });

  test("count addresses, users and the critical class, before anything else is checked", async () => {
    const clock = manualClock();
    const rules = { address: rule("a", 4), user: rule("u", 6), critical: rule("c", 2) };
    const limited = await startManagementApp({
      url: await createDatabase("sqlite"),
      routes: probeRoutes,
      clock,
      rules,
    });
    try {
      const anonymous = limited.anonymous();
      const first = await anonymous.get("/api/probe/critical");
      expect(first.status).toBe(200);
      expect(first.headers).toMatchObject({
        "x-ratelimit-limit-requests": "4",
        "x-ratelimit-remaining-requests": "3",
        "x-ratelimit-reset-requests": "180s",
      });
      const root = await limited.signIn("root");
      expect((await anonymous.get("/api/probe/critical")).status).toBe(429);
      // The refused call was still counted by its address, because it passed that limit.
      expect((await anonymous.get("/api/probe/admin")).status).toBe(401);
      const refused = await anonymous.get("/api/probe/admin");
      expect(refused).toMatchObject({
        status: 429,
        body: { success: false, message: "Too many requests, please try again later!", code: "G3" },
      });
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

  test("believe that a request came over TLS only of trusted proxies", async () => {
    const trustedProxies = [parseNetwork("127.0.0.0/8")!];
    const trusting = await startManagementApp({ url: await createDatabase("sqlite"), trustedProxies });
    const signIn = (from: ManagementApp) =>
      from.anonymous().call("POST", "/api/user/login", {
        body: { username: "root", password: ROOT_PASSWORD },
        headers: { "x-forwarded-proto": "https" },
      });
    const trustedAnswer = await signIn(trusting);
    expect(String(trustedAnswer.headers["set-cookie"])).toContain("; Secure");
    expect(trustedAnswer.headers["strict-transport-security"]).toBeDefined();
    const doubted = await signIn(app);
    expect(String(doubted.headers["set-cookie"])).not.toContain("Secure");
    expect(doubted.headers["strict-transport-security"]).toBeUndefined();
    await trusting.close();
  });

  // @weakness Credentials: Anybody names his address in a header
  test("believe forwarded addresses only of trusted proxies", async () => {
    const rules = { address: rule("a", 1) };
    const trusting = await startManagementApp({
      url: await createDatabase("sqlite"),
      routes: probeRoutes,
      rules,
      trustedProxies: [parseNetwork("127.0.0.0/8")!],
    });
    const wary = await startManagementApp({ url: await createDatabase("sqlite"), routes: probeRoutes, rules });
    try {
      const from = (caller: ApiCaller, ip: string) => caller.get("/api/probe/7", { "x-forwarded-for": ip });
      expect((await from(trusting.anonymous(), "203.0.113.1")).status).toBe(200);
      expect((await from(trusting.anonymous(), "203.0.113.2")).status).toBe(200);
      expect((await from(trusting.anonymous(), "203.0.113.2")).status).toBe(429);
      expect((await from(trusting.anonymous(), "2001:db8:1:2::1")).status).toBe(200);
      expect((await from(trusting.anonymous(), "2001:db8:1:2::2")).status).toBe(429);
      expect((await from(wary.anonymous(), "203.0.113.1")).status).toBe(200);
      expect((await from(wary.anonymous(), "203.0.113.2")).status).toBe(429);
    } finally {
      await trusting.close();
      await wary.close();
    }
  });
});
