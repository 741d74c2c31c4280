// Company sign-in at a running gateway with an OpenID provider of another project, through the provider's own login
// page: what holds at one provider need not hold at the next.
import { generateKeyPairSync } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { buildPrograms } from "../cluster/programs.ts";
import { setOptions, signIn, startGateway, type GatewayProcess, type Session } from "../src/index.ts";
import { startIdentityServer, type IdentityServer, type IdentityServerSettings } from "./server.ts";

const CLIENT = "fairway @ acme";
/** Each of these characters is written in another way in a header than in a form. */
const SECRET = "s+cret: %41/ü&=~";
const ANN = { Username: "ann", Password: "pass of ann" };
const BOB = { Username: "bob", Password: "pass of bob" };
const PEOPLE = {
  "ann-1": {
    ...ANN,
    FirstName: "Ann",
    LastName: "Lee",
    Email: "ann@acme.example",
    EmailVerified: true,
    Claims: { groups: ["staff", "fw-admins"], org: { unit: "R&D East" } },
  },
  "bob-1": { ...BOB, FirstName: "Bob", LastName: "Ray", Email: "bob@acme.example", Claims: { groups: ["staff"] } },
};
const MAPPING = [
  { when: { claim: "groups", equals: "fw-admins" }, role: "admin" },
  { when: { claim: "org.unit", prefix: "R&D" }, group: "vip" },
];

let gateway: GatewayProcess;
let root: Session;
let count = 0;
const open: IdentityServer[] = [];

beforeAll(async () => {
  // Minutes without a build cache of Go.
  await buildPrograms("identity-server");
  gateway = await startGateway();
  await setOptions(await signIn(gateway.url), { ServerAddress: gateway.url });
}, 900_000);
afterAll(() => gateway?.stop());
beforeEach(async () => {
  // Providers are changed in the minutes after a sign-in only.
  root = await signIn(gateway.url);
});
afterEach(() => Promise.all(open.splice(0).map((server) => server.stop())));

interface Company {
  readonly slug: string;
  readonly server: IdentityServer;
  readonly id: number;
  /** Changes the provider as the gateway knows it. */
  change(members: Record<string, unknown>): Promise<unknown>;
}

/** Starts a provider and makes it known to the gateway. */
async function found(
  settings: Partial<IdentityServerSettings> = {},
  members: Record<string, unknown> = {},
): Promise<Company> {
  const slug = `acme-${(count += 1)}`;
  const server = await startIdentityServer({
    users: PEOPLE,
    clientId: CLIENT,
    secret: SECRET,
    redirect: `${gateway.url}/oauth/${slug}`,
    afterLogout: gateway.url,
    backchannel: `${gateway.url}/api/oauth/${slug}/backchannel`,
    ...settings,
  });
  open.push(server);
  const made = { slug, name: "Acme", issuer: server.issuer, client_id: CLIENT, secret: SECRET, ...members };
  const { id } = await root.must<{ id: number }>("POST", "/api/identity_provider/", made);
  return { slug, server, id, change: (more) => root.must("PUT", `/api/identity_provider/${id}`, more) };
}

interface Reply {
  readonly success: boolean;
  readonly message: string;
  readonly code?: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** A browser that has the gateway's cookies. */
function openBrowser() {
  const cookies = new Map<string, string>();
  return {
    userId: 0,
    async call(method: "GET" | "POST", path: string, body?: object): Promise<Reply> {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
      const headers = { cookie, "content-type": "application/json", "New-Api-User": String(this.userId) };
      const sent = body ? { body: JSON.stringify(body) } : {};
      const answer = await fetch(gateway.url + path, { method, headers, ...sent });
      for (const line of answer.headers.getSetCookie()) {
        const [name = "", value = ""] = (line.split(";")[0] ?? "").split(/=(.*)/s);
        cookies.set(name, value);
      }
      return (await answer.json()) as Reply;
    },
    async start(slug: string): Promise<URL> {
      const { data, message } = await this.call("GET", `/api/oauth/start?service=${slug}`);
      if (!data) throw new Error(message);
      return new URL(String(data["url"]));
    },
  };
}
type Browser = ReturnType<typeof openBrowser>;

interface Steps {
  readonly browser?: Browser;
  readonly user?: typeof ANN;
  /** Changes the address of the provider before the browser goes there. */
  there?(address: URL): void;
  /** Changes what the browser brings back. */
  back?(query: URLSearchParams): void;
}

async function enter({ slug, server }: Company, steps: Steps = {}) {
  const { browser = openBrowser(), user = ANN, there = () => undefined, back = () => undefined } = steps;
  const address = await browser.start(slug);
  there(address);
  const { query, pages } = await server.visit(address.href, user);
  back(query);
  const reply = await browser.call("GET", `/api/oauth/${slug}?${query.toString()}`);
  browser.userId = Number(reply.data?.["id"] ?? browser.userId);
  return { browser, reply, pages, address, query };
}

const isSignedIn = async (browser: Browser) => (await browser.call("GET", "/api/user/self")).success;

/** Returns what the checks say, without what passed. */
async function probe({ id }: Company): Promise<Readonly<Record<string, string>>> {
  const { checks } = await root.must<{ checks: readonly Readonly<Record<"name" | "state" | "detail", string>>[] }>(
    "POST",
    `/api/identity_provider/${id}/test`,
    { claims: {} },
  );
  // The gateway of a test has no https.
  const others = checks.filter(({ name, state }) => name !== "address" && state !== "passed");
  return Object.fromEntries(others.map(({ name, state, detail }) => [name, `${state} ${detail}`.trim()]));
}

const ROUTERS = [
  ["checks the code before the client", { hasNewRouter: false }],
  ["checks the client before the code", { hasNewRouter: true }],
] as const;

describe.each(ROUTERS)("a provider that %s", (_what, router) => {
  test("signs a person in with challenge, state and nonce, and its claims give role and group", async () => {
    const acme = await found(router, { mapping: MAPPING });
    const { reply, pages, address, browser } = await enter(acme);
    expect(pages[0]).toContain("<title>Login</title>");
    expect(Object.fromEntries(address.searchParams)).toMatchObject({
      response_type: "code",
      client_id: CLIENT,
      redirect_uri: `${gateway.url}/oauth/${acme.slug}`,
      code_challenge_method: "S256",
      code_challenge: expect.stringMatching(/^[\w-]{43}$/) as string,
      nonce: expect.stringMatching(/^[\w-]{43}$/) as string,
      state: expect.stringMatching(/^\w{32}$/) as string,
    });
    expect(reply).toMatchObject({ success: true, data: { display_name: "Ann Lee", role: 10, group: "vip" } });
    expect(await isSignedIn(browser)).toBe(true);
    const again = await enter(acme);
    expect(again.reply.data?.["id"]).toBe(reply.data?.["id"]);
    const other = await enter(acme, { user: BOB });
    expect(other.reply.data).toMatchObject({ display_name: "Bob Ray", role: 1, group: "default" });
    const links = await root.must<object[]>("GET", `/api/identity_provider/${acme.id}/identities`);
    expect(links.map((link) => (link as { subject: string }).subject).toSorted()).toEqual(["ann-1", "bob-1"]);
  });

  test.each(["client_secret_basic", "client_secret_post"] as const)(
    "passes every check with %s, a wrong secret does not, and signs no user in",
    async (method) => {
      const acme = await found({ ...router, method }, { auth_method: method, logout: true });
      expect(await probe(acme)).toEqual({});
      expect((await enter(acme)).reply.success).toBe(true);
      await acme.change({ secret: "another" });
      expect(await probe(acme)).toEqual({ client: "failed invalid_client" });
      const { reply } = await enter(acme);
      expect(reply).toMatchObject({
        code: "O9",
        message:
          "Acme does not accept the client id or the secret of this gateway. Ask an administrator to correct them.",
      });
    },
  );

  test("does not know another client", async () => {
    const acme = await found(router);
    await acme.change({ client_id: "another" });
    expect(await probe(acme)).toEqual({ client: "failed invalid_client" });
  });

  test("knows a client by its key, which the proof must name", async () => {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const clientKey = { ...publicKey.export({ format: "jwk" }), kid: "key-1", use: "sig", alg: "ES256" };
    const secret = JSON.stringify({ ...privateKey.export({ format: "jwk" }), kid: "key-1" });
    const method = "private_key_jwt";
    const acme = await found({ ...router, method, clientKey }, { auth_method: method, secret });
    expect(await probe(acme)).toEqual({});
    expect((await enter(acme)).reply.success).toBe(true);
    await acme.change({ secret: privateKey.export({ type: "pkcs8", format: "pem" }).toString() });
    expect(await probe(acme)).toEqual({ client: "failed invalid_grant" });
    expect((await enter(acme)).reply.success).toBe(false);
    const stranger = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
    await acme.change({ secret: JSON.stringify({ ...stranger.export({ format: "jwk" }), kid: "key-1" }) });
    expect(await probe(acme)).toEqual({ client: "failed invalid_grant" });
    expect((await enter(acme)).reply.success).toBe(false);
  });
});

describe("no user comes in", () => {
  test("with a wrong password, which the provider's page says", async () => {
    const acme = await found();
    const { pages } = await acme.server.visit((await openBrowser().start(acme.slug)).href, { ...ANN, Password: "x" });
    expect(pages.at(-1)).toContain("username or password wrong");
  });

  test.each<[string, Steps, string]>([
    ["with the nonce of another sign-in", { there: (url) => url.searchParams.set("nonce", "another") }, "O4"],
    ["without a nonce", { there: (url) => url.searchParams.delete("nonce") }, "O4"],
    ["with another state", { there: (url) => url.searchParams.set("state", "x".repeat(32)) }, "O1"],
    ["without a state", { back: (query) => query.delete("state") }, "O1"],
    ["with another challenge", { there: (url) => url.searchParams.set("code_challenge", "x".repeat(43)) }, "O4"],
    ["without a challenge", { there: (url) => url.searchParams.delete("code_challenge") }, "O4"],
    ["with a code that was never given", { back: (query) => query.set("code", "made-up") }, "O4"],
    ["with another issuer", { back: (query) => query.set("iss", "https://evil.example") }, "O4"],
    ["whom the provider refuses", { there: (url) => url.searchParams.set("prompt", "none") }, "O8"],
  ])("%s", async (_what, steps, code) => {
    const { reply, browser } = await enter(await found(), steps);
    expect(reply).toMatchObject({ success: false, code });
    expect(await isSignedIn(browser)).toBe(false);
  });

  test("with the code of another browser, nor with one that was used", async () => {
    const acme = await found();
    const bob = await acme.server.visit((await openBrowser().start(acme.slug)).href, BOB);
    const code = bob.query.get("code") ?? "";
    const { reply } = await enter(acme, { back: (query) => query.set("code", code) });
    expect(reply).toMatchObject({ success: false, code: "O4" });
    const { query } = await enter(acme);
    const used = await enter(acme, { back: (next) => next.set("code", query.get("code") ?? "") });
    expect(used.reply).toMatchObject({ success: false, code: "O4" });
  });

  test("while the provider is away, and who is inside stays", async () => {
    const acme = await found();
    const { browser } = await enter(acme);
    await acme.server.stop();
    expect(await openBrowser().call("GET", `/api/oauth/start?service=${acme.slug}`)).toMatchObject({ code: "O3" });
    expect(await isSignedIn(browser)).toBe(true);
    expect(await probe(acme)).toMatchObject({
      discovery: `failed ${acme.server.issuer}/.well-known/openid-configuration`,
    });
  });
});

describe("keys and issuers", () => {
  test.each(["RS256", "PS256", "ES256", "EdDSA"] as const)(
    "tokens signed with %s, then a new key",
    async (algorithm) => {
      const acme = await found({ algorithm });
      expect(await probe(acme)).toEqual({});
      expect((await enter(acme)).reply.success).toBe(true);
      await acme.server.rotateKey();
      expect((await enter(acme)).reply.success).toBe(true);
    },
  );

  test("tokens that the client's own secret signs are refused", async () => {
    const acme = await found({ algorithm: "HS256" });
    expect(await probe(acme)).toEqual({ keys: `failed ${acme.server.issuer}/keys`, algorithm: "failed HS256" });
    expect((await enter(acme)).reply).toMatchObject({ success: false, code: "O4" });
  });

  test.each(["/", "/realms/acme", "/realms/acme/"])(
    "an issuer that ends with %s is taken letter by letter",
    async (path) => {
      const acme = await found({ path });
      expect(await probe(acme)).toEqual({});
      expect((await enter(acme)).reply.success).toBe(true);
      const { issuer } = acme.server;
      await acme.change({ issuer: path.endsWith("/") ? issuer.slice(0, -1) : `${issuer}/` });
      expect(await probe(acme)).toMatchObject({ issuer: `failed ${issuer}` });
      expect(await openBrowser().call("GET", `/api/oauth/start?service=${acme.slug}`)).toMatchObject({ code: "O4" });
    },
  );

  test("an issuer without encryption is refused outside of this machine", async () => {
    const issuer = "http://login.acme.example";
    const made = { slug: "plain", name: "Plain", issuer, client_id: CLIENT, secret: SECRET };
    const reply = await root.call("POST", "/api/identity_provider/", made);
    expect(reply).toMatchObject({ success: false });
    expect(reply.message).toContain("https");
  });
});

describe("who is who", () => {
  test("an address leads to the provider, whether or not there is an account", async () => {
    const acme = await found({}, { domains: ["discover.example"] });
    const discover = (login: string) => openBrowser().call("POST", "/api/identity/discover", { login });
    expect((await discover("someone@Discover.example")).data).toEqual({ slug: acme.slug, name: "Acme", kind: "oidc" });
    expect((await discover("someone@other.example")).data).toBeNull();
  });

  test("an account is joined by an address that the provider has verified, and by no other", async () => {
    const email = { Email: "eve@joined.example", EmailVerified: true };
    const first = await found({ users: { "eve-1": { ...ANN, ...email } } });
    const made = (await enter(first)).reply.data;
    // The example gives who has no names a name of one space.
    expect(made).toMatchObject({ display_name: "ann" });
    const users = { "eve-2": { ...ANN, ...email }, "mallory-2": { ...BOB, Email: email.Email, EmailVerified: false } };
    const second = await found({ users }, { jit: "link", domains: ["joined.example"] });
    expect((await enter(second, { user: BOB })).reply.data?.["id"]).not.toBe(made?.["id"]);
    expect((await enter(second)).reply.data?.["id"]).toBe(made?.["id"]);
  });

  test("who is signed in proves it again at the provider", async () => {
    const acme = await found({}, { reauth: true });
    const { browser } = await enter(acme);
    const { reply, address } = await enter(acme, { browser });
    expect(address.searchParams.get("max_age")).toBe("300");
    expect(reply).toMatchObject({ success: true, message: "confirm" });
  });
});

describe("signing out", () => {
  test("leads to the provider's page, which leads back", async () => {
    const acme = await found({}, { logout: true });
    const { browser } = await enter(acme);
    const { data } = await browser.call("GET", "/api/user/logout");
    const redirect = String(data?.["redirect"]);
    expect(redirect).toContain(`${acme.server.issuer}/end_session?`);
    const answer = await fetch(redirect, { redirect: "manual" });
    expect([answer.status, answer.headers.get("location")]).toEqual([302, gateway.url]);
    expect(await isSignedIn(browser)).toBe(false);
  });

  test("at the provider ends the person's sessions here, and no other ones", async () => {
    const acme = await found();
    const ann = await enter(acme);
    const bob = await enter(acme, { user: BOB });
    expect(await acme.server.endSession("ann-1")).toBe(200);
    expect([await isSignedIn(ann.browser), await isSignedIn(bob.browser)]).toEqual([false, true]);
    await acme.change({ status: 2 });
    expect(await acme.server.endSession("bob-1")).toBe(400);
    expect(await isSignedIn(bob.browser)).toBe(true);
  });
});
