import type { IdentityProvider, IdentityProviderTest, LinkedIdentity } from "@fairway/wire";
import { generateKeyPairSync } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startCompany, type Company } from "../../../test/kit/company.ts";

let company: Company;
let path = "";

beforeAll(async () => {
  company = await startCompany();
  path = `/api/identity_provider/${company.provider.id}`;
});
afterAll(() => company.close());
beforeEach(() => company.setUp());

const create = (change: Record<string, unknown>) =>
  company.root.post("/api/identity_provider/", {
    slug: "next",
    name: "Next",
    issuer: "https://login.example",
    client_id: "c",
    ...change,
  });

describe("identity providers", () => {
  test("show everything but their secret", async () => {
    const reply = await company.root.get(path);
    expect(reply.body["data"]).toMatchObject({ slug: "acme", has_secret: true, jit: "create", kind: "oidc" });
    expect(reply.text).not.toContain("client-1-secret");
    expect((await company.root.get("/api/identity_provider/")).text).not.toContain("client-1-secret");
    const { secret_sealed: sealed } = await company.app.database.db
      .selectFrom("identity_providers")
      .select("secret_sealed")
      .executeTakeFirstOrThrow();
    expect(sealed).toMatch(/^v2:/);
  });

  test("leave no secret in the audit log", async () => {
    await create({ secret: "very-secret-text" });
    await company.root.data(company.root.put(path, { secret: "very-secret-text" }));
    const rows = await company.app.database.db.selectFrom("audit_log").selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain("very-secret-text");
    expect(rows.map(({ action }) => action)).toContain("identityProviderUpdate");
    await company.setUp();
  });

  test("change only the members that are sent, and not after another call changed them", async () => {
    const { headers } = await company.root.get(path);
    const changed = await company.root.data<IdentityProvider>(company.root.put(path, { name: "Acme Inc." }));
    expect(changed).toMatchObject({ name: "Acme Inc.", domains: ["acme.example"], has_secret: true });
    const sent = { headers: { "if-match": String(headers["etag"]) }, body: { name: "Late" } };
    expect((await company.root.call("PUT", path, sent)).body).toMatchObject({ success: false, code: "G8" });
  });

  test.each([
    ["a slug of an address that exists", { slug: "github" }, "ID2"],
    ["a slug that is taken", { slug: "acme" }, "ID2"],
    ["a slug with other letters", { slug: "../x" }, "G1"],
    ["the issuer of every tenant", { issuer: "https://login.microsoftonline.com/common/v2.0" }, "ID4"],
    ["the issuer of every company", { issuer: "https://login.microsoftonline.com/organizations/v2.0" }, "ID4"],
    ["an issuer with a place for the tenant", { issuer: "https://login.microsoftonline.com/{tenantid}/v2.0" }, "ID4"],
    ["an http issuer", { issuer: "http://login.example" }, "ID7"],
    ["an issuer that is no address", { issuer: "login" }, "ID7"],
    ["an issuer with a password", { issuer: "https://a:b@login.example" }, "ID7"],
    [
      "a rule that makes the super administrator",
      { mapping: [{ when: { claim: "a", exists: true }, role: "root" }] },
      "G1",
    ],
    ["a rule without a condition", { mapping: [{ when: { claim: "a" }, role: "admin" }] }, "ID8"],
    ["a rule with two", { mapping: [{ when: { claim: "a", equals: "b", exists: true }, role: "user" }] }, "ID8"],
    ["a rule that gives nothing", { mapping: [{ when: { claim: "a", exists: true } }] }, "ID8"],
    ["a group that does not exist", { mapping: [{ when: { claim: "a", exists: true }, group: "none" }] }, "U15"],
    ["a key that is none", { auth_method: "private_key_jwt", secret: "text" }, "ID9"],
    [
      "a key that is public",
      { auth_method: "private_key_jwt", secret: '{"kty":"OKP","crv":"Ed25519","x":"AA"}' },
      "ID9",
    ],
    ["a key that is cut", { auth_method: "private_key_jwt", secret: '{"kty":"RSA","n":"' }, "ID9"],
    ["a member that does not exist", { jti: "off" }, "G2"],
    ["no issuer", { issuer: undefined }, "G2"],
  ])("are refused with %s", async (_what, change, code) => {
    expect((await create(change)).body).toMatchObject({ success: false, code });
  });

  test("take http only where the operator says so", async () => {
    expect((await create({ slug: "plain", issuer: "http://login.example", allow_http: true })).body["success"]).toBe(
      true,
    );
    const { data } = (await create({ slug: "other" })).body as { data: IdentityProvider };
    const change = { issuer: "http://login.example" };
    expect((await company.root.put(`/api/identity_provider/${data.id}`, change)).body).toMatchObject({ code: "ID7" });
  });

  test.each(["rsa", "ec", "ed25519"] as const)("sign in as a client with a private key: %s", async (kind) => {
    const { privateKey } =
      kind === "rsa"
        ? generateKeyPairSync("rsa", { modulusLength: 2048 })
        : kind === "ec"
          ? generateKeyPairSync("ec", { namedCurve: "P-256" })
          : generateKeyPairSync("ed25519");
    const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    const jwk = JSON.stringify({ ...privateKey.export({ format: "jwk" }), kid: "key-1" });
    for (const [form, secret] of Object.entries({ pem, jwk })) {
      const made = await create({ slug: `${form}-${kind}`, auth_method: "private_key_jwt", secret });
      expect(made.body["success"]).toBe(true);
    }
  });

  test("are at most fifty", async () => {
    const { db } = company.app.database;
    const { n } = await db
      .selectFrom("identity_providers")
      .select((eb) => eb.fn.countAll<number>().as("n"))
      .executeTakeFirstOrThrow();
    for (let at = Number(n); at < 50; at += 1) await company.root.data(create({ slug: `many-${at}` }));
    expect((await create({ slug: "one-more" })).body).toMatchObject({ code: "ID6" });
    await db.deleteFrom("identity_providers").where("slug", "like", "many-%").execute();
  });

  test("need a fresh sign-in", async () => {
    const { db } = company.app.database;
    const made = await db.selectFrom("sessions").select(["id_hash", "created_at"]).execute();
    await db.updateTable("sessions").set({ created_at: 1_700_000_000 }).execute();
    await db
      .updateTable("sessions")
      .set({ created_at: Math.floor(Date.now() / 1000) - 3600 })
      .execute();
    expect((await create({ slug: "late" })).body).toMatchObject({ code: "AU10" });
    for (const { id_hash, created_at } of made)
      await db.updateTable("sessions").set({ created_at }).where("id_hash", "=", id_hash).execute();
  });
});

describe("tokens of a directory", () => {
  const listTimes = async () =>
    (await company.root.data<{ scim_tokens: number[] }>(company.root.get(path))).scim_tokens;

  test("are shown once, two at a time, and end together", async () => {
    const make = () =>
      company.root.data<{ token: string }>(
        company.root.post(`/api/identity_provider/${company.provider.id}/scim_token`, {}),
      );
    const tokens = [await make(), await make(), await make()].map(({ token }) => token);
    expect(new Set(tokens).size).toBe(3);
    expect(await listTimes()).toHaveLength(2);
    const isAccepted = async (token: string) => {
      const headers = { authorization: `Bearer ${token}` };
      return (await company.app.anonymous().get(`/scim/v2/${company.provider.slug}/Users`, headers)).status === 200;
    };
    expect(await Promise.all(tokens.map(isAccepted))).toEqual([false, true, true]);
    await company.root.data(company.root.delete(`/api/identity_provider/${company.provider.id}/scim_token`));
    expect(await listTimes()).toEqual([]);
    expect(await Promise.all(tokens.map(isAccepted))).toEqual([false, false, false]);
  });
});

describe("the test of a provider", () => {
  const probe = (claims: Record<string, unknown>) =>
    company.root.data<IdentityProviderTest>(
      company.root.post(`/api/identity_provider/${company.provider.id}/test`, { claims }),
    );

  test("names issuer, keys and what claims would give", async () => {
    await company.setUp({
      mapping: [
        { when: { claim: "groups", in: ["a", "b"] }, group: "vip" },
        { when: { claim: "org.unit", equals: "it" }, role: "admin" },
        { when: { claim: "https://acme.example/level", exists: true }, role: "user", group: "svip" },
      ],
    });
    const found = await probe({ groups: ["b"], org: { unit: "it" } });
    expect(found).toMatchObject({
      issuer: company.oidc.issuer,
      keys: 1,
      has_logout: true,
      mapping: { role: "admin", role_rule: 2, group: "vip", group_rule: 1, is_incomplete: false },
    });
    expect((await probe({ "https://acme.example/level": 3 })).mapping).toMatchObject({ role: "user", group: "svip" });
    expect((await probe({ hasgroups: true })).mapping).toMatchObject({ role: "", is_incomplete: true });
    expect((await probe({ constructor: 1, org: { __proto__: null } })).mapping).toMatchObject({ role: "", group: "" });
  });

  const listStates = async (change: Record<string, unknown>) => {
    await company.setUp(change);
    const { checks } = await probe({});
    return Object.fromEntries(checks.map(({ name, state, detail }) => [name, detail === "" ? state : [state, detail]]));
  };

  test("passes every check of a provider that is set up", async () => {
    expect(await listStates({ logout: true })).toEqual({
      address: ["passed", "https://gw.example/oauth/acme"],
      discovery: "passed",
      issuer: "passed",
      endpoints: "passed",
      keys: "passed",
      algorithm: "passed",
      client: "passed",
      scopes: "passed",
      logout: "passed",
    });
  });

  test.each([
    ["away", { issuer: "http://127.0.0.1:1" }],
    ["at an address of the cloud", { issuer: "http://169.254.169.254", allow_http: true }],
    ["at an address without a document", { issuer: "ISSUER/elsewhere" }],
  ])("says that a provider is %s, and skips the rest", async (_what, change) => {
    const issuer = change.issuer.replace("ISSUER", company.oidc.issuer);
    const states = await listStates({ ...change, issuer });
    expect(states).toMatchObject({
      discovery: ["failed", `${issuer}/.well-known/openid-configuration`],
      issuer: "skipped",
      keys: "skipped",
      client: "skipped",
    });
    await company.setUp({ allow_http: false });
  });

  test("says that the discovery document names another issuer", async () => {
    const issuer = company.oidc.issuer.replace("127.0.0.1", "localhost");
    expect(await listStates({ issuer })).toMatchObject({ issuer: ["failed", company.oidc.issuer], keys: "passed" });
  });

  test.each([
    ["another secret", { secret: "wrong" }, { client: ["failed", "invalid_client"] }],
    ["another client", { client_id: "other" }, { client: ["failed", "invalid_client"] }],
    ["no secret", { secret: "" }, { client: ["failed", "secret"] }],
    ["a scope that the provider does not have", { scopes: "openid moon" }, { scopes: ["warning", "moon"] }],
    ["no scope openid", { scopes: "email" }, { scopes: ["failed", "openid"] }],
  ])("finds %s", async (_what, change, states) => {
    expect(await listStates(change)).toMatchObject(states);
  });

  test("finds that the provider publishes no keys", async () => {
    company.oidc.publishes = { keys: [] };
    expect(await listStates({})).toMatchObject({ keys: ["failed", `${company.oidc.issuer}/jwks`] });
    company.oidc.publishes = undefined;
  });
});

test("who is linked can be listed, and a deleted provider leaves the accounts", async () => {
  const { user } = await company.enter({ preferred_username: "ann" });
  const links = await company.root.data<LinkedIdentity[]>(company.root.get(`${path}/identities`));
  expect(links).toMatchObject([{ user_id: user.id, username: "ann", subject: "subject-1", role: "", group: "" }]);
  await company.root.data(company.root.delete(path));
  expect((await company.root.get(path)).body).toMatchObject({ code: "ID1" });
  const { db } = company.app.database;
  expect(await db.selectFrom("user_identities").selectAll().execute()).toEqual([]);
  expect(await db.selectFrom("users").select("id").where("id", "=", user.id).execute()).toHaveLength(1);
  expect(await db.selectFrom("sessions").select("id_hash").where("user_id", "=", user.id).execute()).toEqual([]);
});
