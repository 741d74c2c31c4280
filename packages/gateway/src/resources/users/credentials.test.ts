import * as wire from "@fairway/wire";
import type { Endpoint } from "@fairway/wire";
import { createDatabase } from "@fairway/testkit/databases";
import { Secret, TOTP } from "otpauth";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ApiCaller } from "../../../test/kit/api-caller.ts";
import { SoftwareAuthenticator } from "../../../test/kit/authenticator.ts";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { accountRow } from "../../identity/accounts/accounts.ts";

let app: ManagementApp;
let ann: ApiCaller;
const password = "a good password";
const FRESH_SECONDS = 300;

const exported: unknown[] = Object.values(wire);
const endpoints = exported.filter(
  (value): value is Endpoint => typeof value === "object" && value !== null && "access" in value && "method" in value,
);

beforeAll(async () => {
  app = await startManagementApp({ url: await createDatabase("sqlite") });
});
afterAll(() => app.close());

beforeEach(async () => {
  const { db } = app.database;
  for (const table of ["passkeys", "access_tokens", "one_time_codes"] as const) await db.deleteFrom(table).execute();
  await db.deleteFrom("users").where("username", "!=", "root").execute();
  app.clock.move(2000);
  const passwordHash = await app.identity.passwords.hash(password);
  for (const username of ["ann", "bob"]) {
    await db
      .insertInto("users")
      .values(accountRow({ username, passwordHash, createdAt: 1 }))
      .execute();
  }
  ann = await app.signIn("ann", password);
});

const confirm = (body: object) => ann.post("/api/user/self/confirm", body);
const makeToken = (caller: ApiCaller, body: object) =>
  caller.data<string>(caller.post("/api/user/self/access_tokens", { name: "ci", scopes: ["write"], ...body }));

function withToken(token: string): ApiCaller {
  const caller = app.anonymous();
  caller.accessToken = token;
  return caller;
}

function callEndpoint(caller: ApiCaller, { method, path, body }: Endpoint) {
  return caller.call(method, path.replace(/\{\w+\}/g, "1"), body === undefined ? {} : { body: {} });
}

async function enrolled(): Promise<() => string> {
  const path = "/api/user/self/two_factor";
  const { secret } = await ann.data<{ secret: string }>(ann.post(path, {}));
  const code = () => new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: app.clock.now() });
  await ann.data(ann.post(`${path}/confirm`, { code: code() }));
  return code;
}

describe("changes of credentials", () => {
  const fresh = endpoints.filter((one) => wire.findCallRights(one)?.stepUp === "fresh");
  const inSession = endpoints.filter((one) => wire.findCallRights(one)?.stepUp !== undefined);

  // @weakness Credentials: A stolen session makes itself new credentials
  test("are refused some time after the sign-in", async () => {
    expect(fresh.length).toBeGreaterThan(12);
    const root = await app.signIn("root");
    app.clock.move(FRESH_SECONDS + 1);
    for (const endpoint of fresh) {
      const { status, body } = await callEndpoint(root, endpoint);
      expect({ name: endpoint.name, status, code: body["code"] }).toEqual({
        name: endpoint.name,
        status: 200,
        code: "AU10",
      });
    }
    const own = await ann.put("/api/user/self", { password: "another password" });
    expect(own.body).toMatchObject({ success: false, code: "AU10" });
    const other = await root.put("/api/user/", { id: ann.userId, password: "another password" });
    expect(other.body).toMatchObject({ success: false, code: "AU10" });
    await app.signIn("ann", password);
    expect((await ann.put("/api/user/self", { display_name: "Ann" })).body["success"]).toBe(true);
  });

  test("need no more than a sign-in of the last five minutes", async () => {
    app.clock.move(FRESH_SECONDS);
    expect((await ann.put("/api/user/self", { password: "another password" })).body["success"]).toBe(true);
    expect((await ann.get("/api/user/token")).body["success"]).toBe(true);
  });

  // @weakness Credentials: A stolen access token makes itself new credentials
  test("are refused to access tokens at any time", async () => {
    const root = await app.signIn("root");
    const byToken = withToken(await makeToken(root, {}));
    for (const endpoint of inSession) {
      const { status, body } = await callEndpoint(byToken, endpoint);
      expect({ name: endpoint.name, status, code: body["code"] }).toEqual({
        name: endpoint.name,
        status: 403,
        code: "AU9",
      });
    }
    const refused = [
      await byToken.put("/api/user/self", { password: "another password" }),
      await byToken.put("/api/user/self", { original_password: "a guess" }),
      await byToken.put("/api/user/", { id: ann.userId, password: "another password" }),
      await byToken.delete("/api/user/self/access_tokens?name="),
    ];
    expect(refused.map(({ body }) => body["code"])).toEqual(["AU9", "AU9", "AU9", "AU9"]);
    expect((await byToken.put("/api/user/self", { display_name: "Root" })).body["success"]).toBe(true);
    expect((await byToken.delete("/api/user/self/access_tokens?name=ci")).body["success"]).toBe(true);
    expect((await byToken.get("/api/user/self")).body["code"]).toBe("AU2");
  });
});

describe("a confirmation", () => {
  test("by password lasts five minutes, for its session alone", async () => {
    const other = await app.signIn("ann", password);
    app.clock.move(FRESH_SECONDS + 1);
    expect((await confirm({})).body).toMatchObject({ code: "U20", field: "password" });
    expect((await confirm({ password: "wrong" })).body).toMatchObject({ code: "U20" });
    expect((await confirm({ password })).body).toEqual({ success: true, message: "" });
    expect((await other.get("/api/user/token")).body["code"]).toBe("AU10");
    app.clock.move(FRESH_SECONDS);
    expect((await ann.get("/api/user/token")).body["success"]).toBe(true);
    app.clock.move(1);
    expect((await ann.get("/api/user/token")).body["code"]).toBe("AU10");
  });

  test("takes the code where two-factor sign-in is on, and no password instead", async () => {
    const code = await enrolled();
    app.clock.move(FRESH_SECONDS + 1);
    expect((await confirm({ password })).body).toMatchObject({ code: "L5", two_factor: true });
    expect((await confirm({ code: "000000" })).body).toMatchObject({ code: "L6" });
    expect((await confirm({ code: code() })).body["success"]).toBe(true);
    expect((await ann.get("/api/user/token")).body["success"]).toBe(true);
  });

  test("accepts a passkey of the caller, not of another user", async () => {
    type Creation = Parameters<SoftwareAuthenticator["create"]>[0];
    type Request = Parameters<SoftwareAuthenticator["get"]>[0];
    const origin = app.baseUrl;
    const registerDevice = async (caller: ApiCaller) => {
      const device = new SoftwareAuthenticator();
      const options = await caller.data<Creation>(caller.post("/api/user/self/passkeys/options", {}));
      await caller.data(caller.post("/api/user/self/passkeys", { response: device.create(options, { origin }) }));
      return device;
    };
    const own = await registerDevice(ann);
    const foreign = await registerDevice(await app.signIn("bob", password));
    app.clock.move(FRESH_SECONDS + 1);
    const request = () => ann.data<Request>(ann.post("/api/user/passkey/options", {}));
    expect((await confirm({ passkey: foreign.get(await request(), { origin }) })).body["code"]).toBe("F7");
    expect((await ann.get("/api/user/token")).body["code"]).toBe("AU10");
    expect((await confirm({ passkey: own.get(await request(), { origin }) })).body["success"]).toBe(true);
    expect((await ann.get("/api/user/token")).body["success"]).toBe(true);
  });

  test("is not guessed from a stolen session, and guesses there leave the sign-in open", async () => {
    for (let i = 0; i < 10; i += 1) expect((await confirm({ password: "wrong" })).body["code"]).toBe("U20");
    expect((await confirm({ password })).body["code"]).toBe("L4");
    expect((await app.anonymous().post("/api/user/login", { username: "ann", password })).body["success"]).toBe(true);
  });
});

describe("scopes of access tokens", () => {
  test("are listed, checked and stored", async () => {
    const end = Math.floor(app.clock.now() / 1000) + 100;
    const token = await makeToken(ann, { scopes: ["logs:read", "logs:read", "tokens:write"], expires_at: end });
    expect(await ann.data(ann.get("/api/user/self/access_tokens"))).toMatchObject([
      { name: "ci", expires_at: end, scopes: ["logs:read", "tokens:write"] },
    ]);
    const bad = await ann.post("/api/user/self/access_tokens", { name: "x", scopes: ["everything"] });
    expect(bad.body["code"]).toBe("G2");
    const caller = withToken(token);
    expect((await caller.get("/api/log/self")).body["success"]).toBe(true);
    expect((await caller.get("/api/token/")).body["success"]).toBe(true);
    expect((await caller.post("/api/token/", { name: "key" })).body["success"]).toBe(true);
    const refused = await caller.get("/api/user/self");
    expect(refused.status).toBe(403);
    expect(refused.body).toMatchObject({
      code: "AU11",
      message: "This access token lacks the scope account:read.",
    });
    app.clock.move(101);
    expect((await caller.get("/api/log/self")).body["code"]).toBe("AU2");
  });

  // @weakness Sessions and permissions: A token for reading writes through some call
  test("of reading change nothing, whatever the call", async () => {
    const root = await app.signIn("root");
    const caller = withToken(await makeToken(root, { scopes: ["read"] }));
    // Some calls read by POST, to keep a key out of addresses or to send a long text; `scopes.test.ts` lists them too.
    const readsByBody = new Set(["pricePreview", "tokenFind"]);
    const writes = endpoints.filter(
      ({ name, access, method, hasEffects }) =>
        (access === "user" || access === "admin" || access === "root") &&
        (method !== "GET" || hasEffects) &&
        !readsByBody.has(name),
    );
    expect(writes.length).toBeGreaterThan(60);
    for (const endpoint of writes) {
      const { body } = await callEndpoint(caller, endpoint);
      expect({ name: endpoint.name, code: body["code"] }).toEqual({ name: endpoint.name, code: "AU11" });
    }
    expect((await caller.get("/api/channel/")).body["success"]).toBe(true);
    expect((await caller.get("/api/option/")).body["success"]).toBe(true);
  });

  test("of one area say nothing about another, and calls without a sign-in stay open", async () => {
    const root = await app.signIn("root");
    const caller = withToken(await makeToken(root, { scopes: ["users:write"] }));
    expect((await caller.get("/api/user/")).body["success"]).toBe(true);
    expect((await caller.get("/api/status")).body["success"]).toBe(true);
    for (const path of ["/api/channel/", "/api/option/", "/api/user/self", "/api/audit", "/api/redemption/"]) {
      expect((await caller.get(path)).body["code"]).toBe("AU11");
    }
  });
});
