import { createHash } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { importJWK, SignJWT, type JWK } from "jose";
import { createDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ApiCaller } from "../../../test/kit/api-caller.ts";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { makeSigningKey } from "@fairway/testkit/oidc-server";

interface Asked {
  readonly path: string;
  readonly authorization: string;
  readonly body: string;
}

let server: Server;
let service = "";
let app: ManagementApp;
const asked: Asked[] = [];
const answers = new Map<string, unknown>();

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const path = request.url ?? "";
      asked.push({ path, authorization: request.headers.authorization ?? "", body: Buffer.concat(chunks).toString() });
      response.writeHead(200, { "content-type": "application/json" });
      const answer = answers.get(path);
      response.end(typeof answer === "string" ? answer : JSON.stringify(answer ?? {}));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  service = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  app = await startManagementApp({ url: await createDatabase("sqlite"), services: { linuxdoUrl: service } });
});
afterAll(async () => {
  await app.close();
  server.closeAllConnections();
  await new Promise<void>((resolve) => server.close(() => resolve()));
});

beforeEach(async () => {
  const { db } = app.database;
  for (const table of ["options", "sessions"] as const) await db.deleteFrom(table).execute();
  await db.deleteFrom("users").where("username", "!=", "root").execute();
  asked.length = 0;
  answers.clear();
  answers.set("/oauth2/token", { access_token: "ld-token" });
  answers.set("/api/user", { id: 5, username: "tux", name: "Tux the Penguin of a very long name" });
  answers.set("/discovery", { token_endpoint: `${service}/token`, userinfo_endpoint: `${service}/userinfo` });
  answers.set("/token", { access_token: "oidc-token" });
  answers.set("/userinfo", { sub: "subject-1", name: "Ann", email: "Ann@Example.com", email_verified: true });
  await setOptions({
    LinuxDOOAuthEnabled: "true",
    LinuxDOClientId: "ld-id",
    LinuxDOClientSecret: "ld-secret",
    "oidc.enabled": "true",
    "oidc.client_id": "oidc-id",
    "oidc.client_secret": "oidc-secret",
    "oidc.well_known": `${service}/discovery`,
    ServerAddress: "https://gw.example",
  });
});

async function setOptions(values: Record<string, string>): Promise<void> {
  for (const [key, value] of Object.entries(values)) {
    await app.database.db.deleteFrom("options").where("key", "=", key).execute();
    await app.database.db.insertInto("options").values({ key, value }).execute();
  }
  await app.snapshots.refresh();
}

async function arrive(caller: ApiCaller, name: "linuxdo" | "oidc", code = "the-code") {
  const state = await caller.data<string>(caller.get("/api/oauth/state"));
  return caller.get(`/api/oauth/${name}?code=${code}&state=${state}`);
}

const users = () => app.database.db.selectFrom("users").selectAll().where("username", "!=", "root").execute();

describe("LINUX DO", () => {
  test("exchanges the code and makes an account by number", async () => {
    const reply = await arrive(app.anonymous(), "linuxdo");
    const [user] = await users();
    expect(reply.body).toMatchObject({ success: true, data: { id: user?.id, username: user?.username } });
    expect(user).toMatchObject({ linux_do_id: "5", display_name: "Tux the Penguin of a", email: null });
    expect(user?.username).toMatch(/^linuxdo_\d+$/);
    const [token, profile] = asked;
    expect(token?.authorization).toBe(`Basic ${Buffer.from("ld-id:ld-secret").toString("base64")}`);
    expect(Object.fromEntries(new URLSearchParams(token?.body))).toEqual({
      grant_type: "authorization_code",
      code: "the-code",
      redirect_uri: "https://gw.example/oauth/linuxdo",
    });
    expect(profile?.authorization).toBe("Bearer ld-token");
  });

  test("says what is wrong: state, switch, code, answers", async () => {
    const caller = app.anonymous();
    expect((await caller.get("/api/oauth/linuxdo?code=a&state=b")).body).toMatchObject({ success: false, code: "O1" });
    expect((await arrive(caller, "linuxdo", "")).body).toMatchObject({ code: "G1" });
    answers.set("/api/user", { id: "5" });
    expect((await arrive(caller, "linuxdo")).body).toMatchObject({
      code: "O4",
      message: "LINUX DO returned an invalid answer, please try again later.",
    });
    await setOptions({ LinuxDOOAuthEnabled: "false" });
    expect((await arrive(caller, "linuxdo")).body).toMatchObject({
      code: "O2",
      message: "The administrator has not enabled LINUX DO login.",
    });
    expect(await users()).toEqual([]);
  });
});

describe("OpenID Connect", () => {
  test("finds the provider by its discovery document, and knows the subject again", async () => {
    const first = await arrive(app.anonymous(), "oidc");
    const [user] = await users();
    expect(first.body).toMatchObject({ success: true, data: { id: user?.id } });
    expect(user).toMatchObject({ oidc_id: "subject-1", display_name: "Ann", email: "ann@example.com" });
    expect(asked.map(({ path }) => path)).toEqual(["/discovery", "/token", "/userinfo"]);
    expect(new URLSearchParams(asked[1]?.body).get("client_secret")).toBe("oidc-secret");
    expect((await arrive(app.anonymous(), "oidc")).body).toMatchObject({ success: true, data: { id: user?.id } });
    expect(await users()).toHaveLength(1);
  });

  test.each([false, "false", null, undefined, 0, 1, "yes"])(
    "takes no address that the provider does not vouch for: email_verified %j",
    async (email_verified) => {
      answers.set("/userinfo", { sub: "s", email: "owner@example.com", email_verified });
      expect((await arrive(app.anonymous(), "oidc")).body).toMatchObject({ success: true });
      expect(await users()).toMatchObject([{ oidc_id: "s", email: null }]);
    },
  );

  // @weakness Credentials: A sign-in service gives an account an address that it does not vouch for
  test("takes a verified address, in text too, and never signs in or joins another account by it", async () => {
    const { db } = app.database;
    answers.set("/userinfo", { sub: "one", email: "Owner@Example.com", email_verified: "true" });
    await arrive(app.anonymous(), "oidc");
    expect(await users()).toMatchObject([{ oidc_id: "one", email: "owner@example.com" }]);
    answers.set("/userinfo", { sub: "two", email: "owner@example.com", email_verified: true });
    const second = await arrive(app.anonymous(), "oidc");
    const rows = await db.selectFrom("users").select(["id", "email"]).where("oidc_id", "=", "two").execute();
    expect(rows).toEqual([{ id: (second.body["data"] as { id: number }).id, email: null }]);
  });

  test("wins over discovery with own addresses", async () => {
    answers.set("/userinfo", { sub: "s" });
    await setOptions({
      "oidc.token_endpoint": `${service}/token`,
      "oidc.user_info_endpoint": `${service}/userinfo`,
      "oidc.well_known": "",
    });
    await arrive(app.anonymous(), "oidc");
    expect(await users()).toMatchObject([{ oidc_id: "s", email: null, display_name: "OIDC User" }]);
    expect(asked.map(({ path }) => path)).toEqual(["/token", "/userinfo"]);
  });

  test("binds for who is signed in, once", async () => {
    const root = await app.signIn("root");
    expect((await arrive(root, "oidc")).body).toEqual({ success: true, message: "bind" });
    expect((await arrive(root, "oidc")).body).toMatchObject({
      code: "O5",
      message: "This OIDC account is already bound to a user.",
    });
    expect((await arrive(app.anonymous(), "oidc")).body).toMatchObject({ data: { id: root.userId } });
  });

  test("without any address, with nonsense, or without an answer there is no sign-in", async () => {
    expect((await app.anonymous().get("/api/oauth/oidc?code=a&state=b")).body).toMatchObject({ code: "O1" });
    await setOptions({ "oidc.well_known": "" });
    expect((await arrive(app.anonymous(), "oidc")).body).toMatchObject({ code: "O4" });
    await setOptions({ "oidc.well_known": "http://127.0.0.1:1/discovery" });
    expect((await arrive(app.anonymous(), "oidc")).body).toMatchObject({ code: "O3" });
    await setOptions({ "oidc.well_known": "http://169.254.169.254/latest" });
    expect((await arrive(app.anonymous(), "oidc")).body).toMatchObject({ code: "O3" });
    await setOptions({ "oidc.well_known": `${service}/discovery` });
    answers.set("/userinfo", "<html>");
    expect((await arrive(app.anonymous(), "oidc")).body).toMatchObject({ code: "O4" });
    await setOptions({ RegisterEnabled: "false" });
    answers.set("/userinfo", { sub: "new" });
    expect((await arrive(app.anonymous(), "oidc")).body).toMatchObject({ code: "R1" });
  });
});

describe("a sign-in that the server sends off", () => {
  interface Sent {
    readonly caller: ApiCaller;
    readonly query: Readonly<Record<string, string>>;
    readonly address: string;
  }

  async function sendOff(name: string, caller = app.anonymous()): Promise<Sent> {
    const { url } = await caller.data<{ url: string }>(caller.get(`/api/oauth/start?service=${name}`));
    const { origin, pathname, searchParams } = new URL(url);
    return { caller, query: Object.fromEntries(searchParams), address: `${origin}${pathname}` };
  }

  const comeBack = ({ caller, query }: Sent, name: string) =>
    caller.get(`/api/oauth/${name}?code=the-code&state=${query["state"]}`);
  const sentVerifier = () =>
    asked.map(({ body }) => new URLSearchParams(body).get("code_verifier")).find((verifier) => verifier !== null);
  const s256 = (verifier: string) => createHash("sha256").update(verifier).digest("base64url");

  let key: JWK;
  const answerGranted = (id_token: string) =>
    answers.set("/token", { access_token: "oidc-token", token_type: "Bearer", id_token });

  async function answerToken(claims: Record<string, unknown>): Promise<void> {
    const now = Math.floor(app.clock.now() / 1000);
    const own = { iss: "https://issuer.example", aud: "oidc-id", iat: now, exp: now + 60, sub: "subject-1", ...claims };
    const stated = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
    const token = new SignJWT(stated).setProtectedHeader({ alg: "RS256", kid: "first" });
    answerGranted(await token.sign(await importJWK(key, "RS256")));
  }

  beforeAll(async () => {
    key = await makeSigningKey("first");
  });

  beforeEach(() => {
    const { kty, n, e, kid } = key;
    answers.set("/jwks", { keys: [{ kty, n, e, kid }] });
    answers.set("/discovery", {
      jwks_uri: `${service}/jwks`,
      issuer: "https://issuer.example",
      authorization_endpoint: "https://issuer.example/authorize?tenant=1",
      token_endpoint: `${service}/token`,
      userinfo_endpoint: `${service}/userinfo`,
    });
  });

  // @weakness Credentials: A code of another sign-in is put in on the way back
  test("is tied to its browser by a challenge and, with OpenID, by a nonce", async () => {
    const sent = await sendOff("oidc");
    expect(sent.address).toBe("https://issuer.example/authorize");
    expect(sent.query).toEqual({
      tenant: "1",
      response_type: "code",
      client_id: "oidc-id",
      redirect_uri: "https://gw.example/oauth/oidc",
      scope: "openid profile email",
      state: expect.stringMatching(/^[A-Za-z0-9]{32}$/) as string,
      nonce: expect.stringMatching(/^[\w-]{43}$/) as string,
      code_challenge: expect.stringMatching(/^[\w-]{43}$/) as string,
      code_challenge_method: "S256",
    });
    await answerToken({ nonce: sent.query["nonce"] });
    expect((await comeBack(sent, "oidc")).body).toMatchObject({ success: true });
    expect(s256(sentVerifier() ?? "")).toBe(sent.query["code_challenge"]);
  });

  test("with LINUX DO sends the verifier too, and an earlier way without one none", async () => {
    const sent = await sendOff("linuxdo");
    expect(sent.address).toBe(`${service}/oauth2/authorize`);
    expect((await comeBack(sent, "linuxdo")).body).toMatchObject({ success: true });
    expect(s256(sentVerifier() ?? "")).toBe(sent.query["code_challenge"]);
    asked.length = 0;
    expect((await arrive(sent.caller, "linuxdo")).body["code"]).toBe("O5");
    expect(sentVerifier()).toBeUndefined();
  });

  test.each([
    ["the nonce of another sign-in", { nonce: "another" }],
    ["no nonce", { nonce: undefined }],
    ["another client", { aud: ["another-client"] }],
    ["another issuer", { iss: "https://evil.example" }],
    ["another subject", { sub: "subject-2" }],
    ["an end that has passed", { exp: 1 }],
    ["no end", { exp: undefined }],
  ])("is refused when the identity token has %s", async (_what, claims) => {
    const sent = await sendOff("oidc");
    await answerToken({ nonce: sent.query["nonce"], ...claims });
    expect((await comeBack(sent, "oidc")).body).toMatchObject({ success: false, code: "O4" });
    expect(await users()).toEqual([]);
  });

  test.each(["no token", "a.b", "a.bm9uZQ.c", "a.e30.c.d", ""])(
    "is refused when the identity token is %j",
    async (id_token) => {
      const sent = await sendOff("oidc");
      answerGranted(id_token);
      expect((await comeBack(sent, "oidc")).body).toMatchObject({ success: false, code: "O4" });
    },
  );

  test("ends at the service that it was sent to", async () => {
    const sent = await sendOff("linuxdo");
    expect((await comeBack(sent, "oidc")).body).toMatchObject({ code: "O1" });
    expect((await comeBack(sent, "linuxdo")).body).toMatchObject({ code: "O1" });
    expect(asked).toEqual([]);
  });

  test("begins only with a service that is switched on", async () => {
    const code = async (name: string) => (await app.anonymous().get(`/api/oauth/start?service=${name}`)).body["code"];
    expect(await code("github")).toBe("O2");
    expect(await code("nobody")).toBe("G1");
    await setOptions({ "oidc.well_known": "" });
    expect(await code("oidc")).toBe("O4");
  });
});
