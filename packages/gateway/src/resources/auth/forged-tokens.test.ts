import { createHash } from "node:crypto";
import { decodeJwt, exportSPKI, importJWK, SignJWT, UnsecuredJWT, type JWK } from "jose";
import { createDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import {
  forgeToken,
  makeSigningKey,
  startOidcServer,
  type Forgery,
  type OidcServer,
} from "@fairway/testkit/oidc-server";
import { manualClock } from "../../../test/kit/support.ts";

const ADDRESS = "https://gw.example";
const SECRET = "client-1-secret";

let provider: OidcServer;
let app: ManagementApp;
let stranger: JWK;
let withdrawn: JWK;

beforeAll(async () => {
  provider = await startOidcServer({ redirectUris: [`${ADDRESS}/oauth/oidc`], clientSecret: SECRET });
  stranger = await makeSigningKey("stranger");
  withdrawn = await makeSigningKey("withdrawn");
  // The provider's clock is the real one.
  app = await startManagementApp({ url: await createDatabase("sqlite"), clock: manualClock(Date.now()) });
  const options = {
    "oidc.enabled": "true",
    "oidc.client_id": "client-1",
    "oidc.client_secret": SECRET,
    "oidc.well_known": provider.wellKnown,
    ServerAddress: ADDRESS,
  };
  for (const [key, value] of Object.entries(options))
    await app.database.db.insertInto("options").values({ key, value }).execute();
  await app.snapshots.refresh();
});
afterAll(async () => {
  await app.close();
  await provider.close();
});

beforeEach(async () => {
  await app.database.db.deleteFrom("users").where("username", "!=", "root").execute();
  provider.person = { sub: "subject-1", name: "Ann", email: "ann@example.com", email_verified: true };
  provider.tamper = undefined;
  provider.publishes = undefined;
  provider.asked.length = 0;
});

async function signIn(changeQuery: (query: URLSearchParams) => void = () => undefined) {
  const caller = app.anonymous();
  const { url } = await caller.data<{ url: string }>(caller.get("/api/oauth/start?service=oidc"));
  const query = await provider.visit(url);
  changeQuery(query);
  return caller.get(`/api/oauth/oidc?${query.toString()}`);
}

const users = () => app.database.db.selectFrom("users").selectAll().where("username", "!=", "root").execute();

interface SignedForgery extends Forgery {
  readonly key?: () => JWK;
}

const forge = (token: string, { key = () => provider.key, ...forgery }: SignedForgery) =>
  forgeToken(token, key(), forgery);

const now = () => Math.floor(Date.now() / 1000);
const publicPart = ({ kty, n, e, kid }: JWK) => ({ kty, n, e, kid }) as JWK;

describe("a sign-in at a real provider", () => {
  test("takes the person whom the provider names", async () => {
    expect((await signIn()).body).toMatchObject({ success: true });
    expect(await users()).toMatchObject([{ oidc_id: "subject-1", email: "ann@example.com", display_name: "Ann" }]);
    expect(provider.asked.slice(-4)).toEqual(["/.well-known/openid-configuration", "/token", "/jwks", "/me"]);
  });

  test("takes a key that the provider has just begun to use", async () => {
    const next = await makeSigningKey("next");
    provider.publishes = { keys: [publicPart(provider.key), publicPart(next)] };
    provider.tamper = async (answer) => void (answer.id_token = await forge(answer.id_token, { key: () => next }));
    expect((await signIn()).body).toMatchObject({ success: true });
  });

  test("takes a list of audiences that names this client alone", async () => {
    const claims = () => ({ aud: ["client-1"] });
    provider.tamper = async (answer) => void (answer.id_token = await forge(answer.id_token, { claims }));
    expect((await signIn()).body).toMatchObject({ success: true });
  });

  test.each([
    ["another issuer", (query: URLSearchParams) => query.set("iss", "https://evil.example")],
    ["no issuer, although the provider says that it names one", (query: URLSearchParams) => query.delete("iss")],
    ["a code that was never given", (query: URLSearchParams) => query.set("code", "made-up")],
  ])("refuses a way back with %s", async (_what, change) => {
    expect((await signIn(change)).body).toMatchObject({ success: false, code: "O4" });
    expect(await users()).toEqual([]);
  });

  test("refuses a code that was used", async () => {
    let code = "";
    await signIn((query) => void (code = query.get("code") ?? ""));
    expect((await signIn((query) => query.set("code", code))).body).toMatchObject({ success: false, code: "O4" });
  });
});

const FORGERIES: readonly (readonly [string, SignedForgery])[] = [
  ["signed by a stranger", { key: () => stranger }],
  ["signed by a stranger who names the provider's key", { key: () => stranger, header: { kid: "first" } }],
  ["signed by a stranger who encloses the key", { key: () => stranger, header: { jwk: { kty: "RSA" } } }],
  ["signed by a stranger who says where the key is", { key: () => stranger, header: { jku: "https://evil.example" } }],
  ["signed by a key that was withdrawn", { key: () => withdrawn }],
  ["with a header that must be understood", { header: { crit: ["urn:unknown"], "urn:unknown": true } }],
  ["of another issuer", { claims: () => ({ iss: "https://evil.example" }) }],
  ["of an issuer with one more slash", { claims: ({ iss }) => ({ iss: `${iss}/` }) }],
  ["without an issuer", { claims: () => ({ iss: undefined }) }],
  ["for another client", { claims: () => ({ aud: "client-2" }) }],
  ["for other clients", { claims: () => ({ aud: ["client-2", "client-3"] }) }],
  ["for two clients without the one it was made for", { claims: () => ({ aud: ["client-1", "client-2"] }) }],
  ["made for another client", { claims: () => ({ aud: ["client-1", "client-2"], azp: "client-2" }) }],
  ["made for another client, to this one alone", { claims: () => ({ azp: "client-2" }) }],
  ["without an audience", { claims: () => ({ aud: undefined }) }],
  ["with the nonce of another sign-in", { claims: () => ({ nonce: "another" }) }],
  ["without a nonce", { claims: () => ({ nonce: undefined }) }],
  ["that has ended", { claims: () => ({ exp: now() - 120 }) }],
  ["without an end", { claims: () => ({ exp: undefined }) }],
  ["whose end is text", { claims: () => ({ exp: "never" }) }],
  ["that is not valid yet", { claims: () => ({ nbf: now() + 600 }) }],
  ["without the time of issue", { claims: () => ({ iat: undefined }) }],
  ["of another person", { claims: () => ({ sub: "subject-2" }) }],
  ["of no person", { claims: () => ({ sub: undefined }) }],
  ["of a number", { claims: () => ({ sub: 1 }) }],
];

// @weakness Credentials: A forged identity token signs in
describe("an identity token is refused", () => {
  async function expectRefused(change: (token: string) => Promise<string> | string) {
    provider.tamper = async (answer) => void (answer.id_token = await change(answer.id_token));
    expect((await signIn()).body).toMatchObject({ success: false, code: "O4" });
    expect(await users()).toEqual([]);
  }

  test.each(FORGERIES)("%s", async (_what, forgery) => expectRefused((token) => forge(token, forgery)));

  test("without a signature", () => expectRefused((token) => new UnsecuredJWT({ ...decodeJwt(token) }).encode()));

  test.each([
    ["the client's secret", async () => Buffer.from(SECRET)],
    [
      "the provider's public key",
      async () => Buffer.from(await exportSPKI((await importJWK(publicPart(provider.key), "RS256")) as CryptoKey)),
    ],
  ])("signed with %s as a shared one", async (_what, secret) => {
    const key = await secret();
    await expectRefused((token) =>
      new SignJWT(decodeJwt(token)).setProtectedHeader({ alg: "HS256", kid: "first" }).sign(key),
    );
  });

  test.each([
    ["whose claims were changed after the signature", (parts: string[]) => [parts[0], encode({ sub: "x" }), parts[2]]],
    ["whose signature is cut", (parts: string[]) => [parts[0], parts[1], parts[2]?.slice(0, -8)]],
    ["whose signature is empty", (parts: string[]) => [parts[0], parts[1], ""]],
    ["with the hash of its claims as signature", (parts: string[]) => [parts[0], parts[1], hash(parts[1] ?? "")]],
    ["of four parts", (parts: string[]) => [...parts, "more"]],
    ["that is text", () => ["text"]],
  ])("%s", async (_what, change) => expectRefused((token) => change(token.split(".")).join(".")));

  test("when the provider publishes no key", async () => {
    provider.publishes = { keys: [] };
    await expectRefused((token) => token);
  });

  test("when the key is meant for encryption", async () => {
    provider.publishes = { keys: [{ ...publicPart(provider.key), use: "enc" }] };
    await expectRefused((token) => token);
  });

  test("also when the browser built the address itself and sent no nonce", async () => {
    const state = app.anonymous();
    const value = await state.data<string>(state.get("/api/oauth/state"));
    const query = new URLSearchParams({
      response_type: "code",
      client_id: "client-1",
      redirect_uri: `${ADDRESS}/oauth/oidc`,
      scope: "openid profile email",
      state: value,
    });
    provider.tamper = async (answer) =>
      void (answer.id_token = await forge(answer.id_token, { key: () => stranger, header: { kid: "first" } }));
    const back = await provider.visit(`${provider.issuer}/auth?${query.toString()}`);
    const path = `/api/oauth/oidc?code=${back.get("code")}&state=${back.get("state")}`;
    expect((await state.get(path)).body).toMatchObject({ success: false, code: "O4" });
  });
});

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
