import type { IdentityProvider, SignedInUser } from "@fairway/wire";
import { importJWK, SignJWT, type JWK } from "jose";
import { TOTP } from "otpauth";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startCompany, type Company } from "../../../test/kit/company.ts";
import { forgeToken, makeSigningKey, startOidcServer } from "@fairway/testkit/oidc-server";
import { accountRow } from "../../identity/accounts/accounts.ts";
import { insertRow } from "../../storage/inserts.ts";

let company: Company;

beforeAll(async () => {
  company = await startCompany();
});
afterAll(() => company.close());

beforeEach(async () => {
  const { db } = company.app.database;
  await db.deleteFrom("user_identities").execute();
  await db.deleteFrom("users").where("username", "!=", "root").execute();
  await company.setUp();
  company.oidc.person = { sub: "subject-1", name: "Ann Lee", preferred_username: "ann@acme.example" };
});

const users = () => company.app.database.db.selectFrom("users").selectAll().where("username", "!=", "root").execute();
const identities = () => company.app.database.db.selectFrom("user_identities").selectAll().execute();
const sessionsOf = (id: number) =>
  company.app.database.db.selectFrom("sessions").selectAll().where("user_id", "=", id).execute();

async function addUser(row: Record<string, unknown> = {}): Promise<number> {
  const account = accountRow({ username: "owner", passwordHash: "x", createdAt: 1, email: "owner@acme.example" });
  return insertRow(company.app.database.db, "users", { ...account, ...row });
}

const OWNER = { email: "owner@acme.example", email_verified: true };

describe("who comes for the first time", () => {
  test("gets an account with the name of the provider, and the same one again", async () => {
    const { user } = await company.enter();
    expect(user).toMatchObject({ username: "ann", display_name: "Ann Lee" });
    expect((await company.enter()).user.id).toBe(user.id);
    expect(await identities()).toMatchObject([{ subject: "subject-1", user_id: user.id }]);
  });

  test("is called by their user name when the provider sends an empty name", async () => {
    const { user } = await company.enter({ name: " ", preferred_username: "ann@acme.example" });
    expect(user.display_name).toBe("ann@acme.example");
  });

  test("gets another name when theirs is taken", async () => {
    await addUser({ username: "ann", username_key: "ann", email: null });
    expect((await company.enter()).user.username).toMatch(/^acme_\d+$/);
  });

  test("is refused when only linked accounts may come", async () => {
    await company.setUp({ jit: "off" });
    expect((await company.signIn()).reply.body).toMatchObject({ success: false, code: "ID3" });
    expect(await users()).toEqual([]);
  });

  test("is another one than the person of that id at another issuer", async () => {
    const other = await startOidcServer({ redirectUris: ["https://gw.example/oauth/other"] });
    try {
      const { root, app } = company;
      const made = { slug: "other", name: "Other", issuer: other.issuer, client_id: "client-1" };
      await root.data<IdentityProvider>(root.post("/api/identity_provider/", { ...made, secret: "client-1-secret" }));
      const first = await company.enter();
      const caller = app.anonymous();
      const { url } = await caller.data<{ url: string }>(caller.get("/api/oauth/start?service=other"));
      const query = await other.visit(url);
      // What one provider answers is worth nothing on the way back from the other.
      expect((await caller.get(`/api/oauth/acme?${query.toString()}`)).body).toMatchObject({ code: "O1" });
      const again = await caller.data<{ url: string }>(caller.get("/api/oauth/start?service=other"));
      const reply = await caller.get(`/api/oauth/other?${(await other.visit(again.url)).toString()}`);
      expect((reply.body["data"] as SignedInUser).id).not.toBe(first.user.id);
    } finally {
      await other.close();
    }
  });
});

// @weakness Credentials: A person who can set an address at an identity provider takes over the account with that address
describe("an existing account is joined by address", () => {
  test("once, and by no other person later", async () => {
    const id = await addUser();
    await company.setUp({ jit: "link" });
    expect((await company.enter(OWNER)).user.id).toBe(id);
    company.oidc.person = { sub: "subject-2", ...OWNER };
    expect((await company.signIn()).reply.body).toMatchObject({ success: false, code: "ID5" });
    expect(await identities()).toMatchObject([{ subject: "subject-1", user_id: id }]);
  });

  test.each([
    ["Microsoft's own claim", { email: OWNER.email, xms_edov: true }, {}],
    ["an operator who vouches", { email: OWNER.email }, { vouches_for_email: true }],
  ])("with %s", async (_what, person, change) => {
    const id = await addUser();
    await company.setUp({ jit: "link", ...change });
    expect((await company.enter(person)).user.id).toBe(id);
  });

  test.each([
    ["of a domain that the provider does not own", OWNER, {}, { domains: ["other.example"] }],
    ["of an administrator", OWNER, { role: 10 }, {}],
    ["of an account that is disabled", OWNER, { status: 2 }, {}],
    ["of an account that is deleted", OWNER, { deleted_at: 5 }, {}],
  ])("never: %s", async (_what, person, row, change) => {
    await addUser(row);
    await company.setUp({ jit: "link", ...change });
    company.oidc.person = { sub: "subject-1", ...person };
    expect((await company.signIn()).reply.body).toMatchObject({ success: false, code: "ID5" });
    expect(await identities()).toEqual([]);
  });

  test.each([
    ["when the provider does not vouch for the address", { email: OWNER.email }, { jit: "link" }],
    ["when the address is said to be not verified", { email: OWNER.email, email_verified: false }, { jit: "link" }],
    ["when newcomers get accounts of their own", OWNER, { jit: "create" }],
  ])("never: %s, and the newcomer has no address", async (_what, person, change) => {
    const id = await addUser();
    await company.setUp(change);
    const { user } = await company.enter(person);
    expect(user.id).not.toBe(id);
    expect((await users()).find((row) => row.id === user.id)?.email).toBeNull();
  });
});

describe("who is signed in", () => {
  test("links the account, confirms it later, and no second account", async () => {
    const { app, root, signIn } = company;
    expect((await signIn(root)).reply.body).toEqual({ success: true, message: "bind" });
    expect((await signIn(root)).reply.body).toEqual({ success: true, message: "confirm" });
    const caller = app.anonymous();
    const { reply } = await signIn(caller);
    expect(reply.body["data"]).toMatchObject({ id: root.userId });
    await addUser({ password: await app.identity.passwords.hash("owner password"), email: null });
    const owner = await app.signIn("owner", "owner password");
    expect((await signIn(owner)).reply.body).toMatchObject({ code: "O5" });
  });

  test("must prove it before linking", async () => {
    const { app, signIn } = company;
    await addUser({ password: await app.identity.passwords.hash("owner password"), email: null });
    const owner = await app.signIn("owner", "owner password");
    await app.database.db
      .updateTable("sessions")
      .set({ created_at: Math.floor(Date.now() / 1000) - 3600 })
      .execute();
    expect((await signIn(owner)).reply.body).toMatchObject({ code: "AU10" });
    await app.database.db
      .updateTable("sessions")
      .set({ created_at: Math.floor(Date.now() / 1000) })
      .execute();
  });

  test("with reauth counts as proven only after a new proof at the provider", async () => {
    await company.setUp({ reauth: true });
    const old = () => ({ auth_time: Math.floor(Date.now() / 1000) - 3600 });
    const { oidc } = company;
    oidc.tamper = async (answer) =>
      void (answer.id_token = await forgeToken(answer.id_token, oidc.key, { claims: old }));
    const { caller } = await company.enter();
    const makeToken = async () =>
      (await caller.post("/api/user/self/access_tokens", { name: "ci", scopes: ["read"] })).body;
    expect(await makeToken()).toMatchObject({ success: false, code: "AU10" });
    // The provider says that its proof is old, although a new one was asked for.
    expect((await company.signIn(caller)).reply.body).toMatchObject({ code: "O4" });
    oidc.tamper = undefined;
    expect((await company.signIn(caller)).reply.body).toMatchObject({ message: "confirm" });
    expect(await makeToken()).toMatchObject({ success: true });
  });
});

describe("rules", () => {
  const mapping = [
    { when: { claim: "groups", equals: "fw-admins" }, role: "admin" },
    { when: { claim: "department", prefix: "R&D" }, group: "vip" },
  ];

  test("give a role and a group, and take back what they gave", async () => {
    await company.setUp({ mapping });
    const admin = await company.enter({ groups: ["x", "fw-admins"], department: "R&D East" });
    expect(admin.user).toMatchObject({ role: 10, group: "vip" });
    const again = await company.enter({ groups: ["x"] });
    expect(again.user).toMatchObject({ id: admin.user.id, role: 1, group: "default" });
    // A lower role has ended the sessions of the higher one.
    expect(await sessionsOf(admin.user.id)).toHaveLength(1);
  });

  test("leave alone what people gave", async () => {
    const { user } = await company.enter();
    const change = { role: 10, group: "svip" };
    await company.app.database.db.updateTable("users").set(change).where("id", "=", user.id).execute();
    await company.setUp({ mapping });
    expect((await company.enter({ groups: [] })).user).toMatchObject(change);
  });

  test("never change the super administrator", async () => {
    const { root, signIn } = company;
    await signIn(root);
    await company.setUp({ mapping: [{ when: { claim: "sub", exists: true }, role: "user", group: "vip" }] });
    const { reply } = await signIn();
    expect(reply.body["data"]).toMatchObject({ id: root.userId, role: 100 });
  });

  test.each([{ hasgroups: true }, { _claim_names: { groups: "src1" } }])(
    "change nothing while the provider leaves the groups out: %j",
    async (overage) => {
      await company.setUp({ mapping });
      await company.enter({ groups: ["fw-admins"] });
      expect((await company.enter(overage)).user.role).toBe(10);
    },
  );
});

describe("a second factor", () => {
  async function switchOn({ id, username }: SignedInUser): Promise<void> {
    const { twoFactor } = company.app.identity;
    const { secret } = await twoFactor.begin({ userId: id, username });
    await twoFactor.confirm(id, new TOTP({ secret }).generate({ timestamp: company.app.clock.now() }));
  }

  test.each([
    ["own", ["mfa"], true],
    ["provider", ["mfa"], false],
    ["provider", ["pwd"], true],
  ])("with mfa %s and amr %j is asked for here: %s", async (mfa, amr, isAsked) => {
    const { oidc } = company;
    await company.setUp({ mfa });
    const { user } = await company.enter();
    await switchOn(user);
    oidc.tamper = async (answer) =>
      void (answer.id_token = await forgeToken(answer.id_token, oidc.key, { claims: () => ({ amr }) }));
    const { reply } = await company.signIn();
    expect(reply.body["code"] === "L5").toBe(isAsked);
  });
});

describe("enforced", () => {
  const password = "owner password";

  test("people of the company sign in there only, and their other sessions end", async () => {
    const { app } = company;
    const id = await addUser({ password: await app.identity.passwords.hash(password) });
    const before = await app.signIn("owner", password);
    await company.setUp({ enforced: true, jit: "link" });
    expect((await before.get("/api/user/self")).body).toMatchObject({ success: false });
    const reply = await app.anonymous().post("/api/user/login", { username: "owner", password });
    expect(reply.body).toMatchObject({ success: false, code: "L7", message: "Sign in with Acme." });
    expect((await company.enter(OWNER)).user.id).toBe(id);
  });

  test("those who are exempt, and the super administrator, still come in another way", async () => {
    const { app } = company;
    const id = await addUser({ password: await app.identity.passwords.hash(password) });
    await company.setUp({ enforced: true, exempt: [id] });
    await app.signIn("owner", password);
    await app.signIn("root");
  });

  test("who is linked counts, whatever the address is", async () => {
    const { app } = company;
    const { user } = await company.enter();
    const change = { password: await app.identity.passwords.hash(password) };
    await app.database.db.updateTable("users").set(change).where("id", "=", user.id).execute();
    await company.setUp({ enforced: true, domains: [] });
    const reply = await app.anonymous().post("/api/user/login", { username: user.username, password });
    expect(reply.body).toMatchObject({ code: "L7" });
  });
});

describe("a session of the provider", () => {
  test("ends after its hours and when it is idle", async () => {
    await company.setUp({ session_hours: 8, idle_minutes: 30 });
    const { caller, user } = await company.enter();
    const [row] = await sessionsOf(user.id);
    const now = Math.floor(company.app.clock.now() / 1000);
    expect(row).toMatchObject({ idp_subject: "subject-1", expires_at: now + 1800 });
    for (let minutes = 0; minutes < 100; minutes += 20) {
      company.app.clock.move(1200);
      expect((await caller.get("/api/user/self")).body["success"]).toBe(true);
    }
    company.app.clock.move(1801);
    expect((await caller.get("/api/user/self")).body["success"]).toBe(false);
    company.app.clock.move(-1801 - 6000);
  });
});

describe("back-channel logout", () => {
  const EVENT = "http://schemas.openid.net/event/backchannel-logout";
  let count = 0;

  async function sendLogout(claims: Record<string, unknown>, key: JWK = company.oidc.key, alg = "RS256") {
    const now = Math.floor(company.app.clock.now() / 1000);
    const own = {
      iss: company.oidc.issuer,
      aud: "client-1",
      iat: now,
      exp: now + 120,
      jti: `jti-${(count += 1)}`,
      sub: "subject-1",
      events: { [EVENT]: {} },
      ...claims,
    };
    const stated = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
    const signed = new SignJWT(stated).setProtectedHeader({ alg, kid: key.kid ?? "", typ: "logout+jwt" });
    return post(await signed.sign(await importJWK(key, alg)));
  }

  const post = (token: string) =>
    company.app.anonymous().call("POST", "/api/oauth/acme/backchannel", {
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ logout_token: token }).toString(),
    });

  test("ends the person's sessions of the provider, once", async () => {
    const { caller, user } = await company.enter();
    expect((await sendLogout({ jti: "same" })).status).toBe(200);
    expect(await sessionsOf(user.id)).toEqual([]);
    expect((await caller.get("/api/user/self")).body["success"]).toBe(false);
    await company.enter();
    expect((await sendLogout({ jti: "same" })).status).toBe(400);
    expect(await sessionsOf(user.id)).toHaveLength(1);
  });

  test.each([
    ["another issuer", { iss: "https://evil.example" }],
    ["another client", { aud: "client-2" }],
    ["a nonce", { nonce: "n" }],
    ["no event", { events: undefined }],
    ["another event", { events: { "urn:other": {} } }],
    ["no person", { sub: undefined }],
    ["no name of its own", { jti: undefined }],
    ["no time", { iat: undefined }],
    ["an old time", { iat: Math.floor(Date.now() / 1000) - 3600 }],
  ])("is refused with %s", async (_what, claims) => {
    const { user } = await company.enter();
    expect((await sendLogout(claims)).status).toBe(400);
    expect(await sessionsOf(user.id)).toHaveLength(1);
  });

  test("is refused when a stranger signed it, when it is unsigned, and when it is none", async () => {
    const stranger = await makeSigningKey("first");
    const { user } = await company.enter();
    expect((await sendLogout({}, stranger)).status).toBe(400);
    expect((await post("eyJhbGciOiJub25lIn0.e30.")).status).toBe(400);
    expect((await post("")).status).toBe(400);
    expect(await sessionsOf(user.id)).toHaveLength(1);
  });
});

describe("signing out", () => {
  test("leads to the provider's page where the operator wants it, and nowhere else", async () => {
    const plain = await company.enter();
    expect((await plain.caller.get("/api/user/logout")).body).toEqual({ success: true, message: "" });
    await company.setUp({ logout: true });
    const { caller, user } = await company.enter();
    const { redirect } = await caller.data<{ redirect: string }>(caller.get("/api/user/logout"));
    expect(redirect.startsWith(`${company.oidc.issuer}/session/end?`)).toBe(true);
    expect(redirect).toContain("post_logout_redirect_uri=");
    expect(await sessionsOf(user.id)).toEqual([]);
    await company.setUp({});
  });
});

describe("what visitors see", () => {
  test("the status names the providers that are enabled", async () => {
    const { app } = company;
    const signIn = async () =>
      (await app.anonymous().data<{ sign_in: unknown }>(app.anonymous().get("/api/status"))).sign_in;
    app.clock.move(10);
    expect(await signIn()).toContainEqual({ slug: "acme", name: "Acme", kind: "oidc" });
    await company.setUp({ status: 2 });
    app.clock.move(10);
    expect(await signIn()).not.toContainEqual({ slug: "acme", name: "Acme", kind: "oidc" });
    expect((await app.anonymous().get("/api/oauth/start?service=acme")).body).toMatchObject({ code: "O2" });
    app.clock.move(-20);
  });

  test("a mail domain leads to its provider, whether or not there is an account", async () => {
    const discover = async (login: string) =>
      (await company.app.anonymous().post("/api/identity/discover", { login })).body["data"];
    expect(await discover("unknown@ACME.example")).toEqual({ slug: "acme", name: "Acme", kind: "oidc" });
    expect(await discover("ann@other.example")).toBeNull();
    expect(await discover("acme.example")).toBeNull();
  });

  test("a provider that is away says so", async () => {
    await company.setUp({ issuer: "http://127.0.0.1:1" });
    expect((await company.app.anonymous().get("/api/oauth/start?service=acme")).body).toMatchObject({ code: "O3" });
  });
});
