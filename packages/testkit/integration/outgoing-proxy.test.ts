// Everything that leaves a gateway, with a proxy as the only way out and a private authority behind every https address.
// The names below corp.test exist for the proxy alone.
import {
  createChannel,
  createToken,
  setModelRatios,
  setOptions,
  signIn,
  startGateway,
  startUpstream,
  type GatewayProcess,
  type Session,
  type Upstream,
} from "@fairway/testkit";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { readFile, readdir, rm } from "node:fs/promises";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { createServer, type Server } from "node:tls";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { startHttpProxy, type HttpProxy } from "../src/http-proxy.ts";
import { createCertificates, type Certificates } from "../src/services/certificates.ts";

const SOURCES = join(import.meta.dirname, "../../gateway/src");
const PNG = Buffer.from("89504e470d0a1a0a00000000", "hex");
const LOGIN = "gateway:p%40ss";
const NAMES = ["upstream", "token", "github", "pay", "judge", "logs", "bucket", "traces", "human", "prices"];
const host = (name: string) => `${name}.corp.test`;

/** Files that can open a connection: the doors below go through it, or it is right that it takes no proxy. */
const DOORS: Readonly<Record<string, string>> = {
  "lib/net/network.ts": "opens the connections of all doors but WebSockets and traces",
  "lib/net/outbound.ts": "sign-in, payments, human check, published prices",
  "lib/net/send.ts": "log export",
  "lib/net/post-once.ts": "messages about events",
  "lib/net/guarded-fetch.ts": "files and hooks that clients name",
  "relay/upstream/upstream.ts": "calls of channels",
  "relay/upstream/decoded.ts": "decodes answers of channels",
  "relay/upstream/socket.ts": "exchanges over WebSockets",
  "relay/upstream/tunnel.ts": "WebSockets through a proxy",
  "relay/realtime/connect.ts": "realtime sessions",
  "relay/realtime/session.ts": "realtime sessions",
  "relay/realtime/frame-pipe.ts": "realtime sessions",
  "relay/realtime/upgrade.ts": "accepts WebSockets",
  "http/server.ts": "accepts connections",
  "http/message-shapes.ts": "accepts connections",
  "relay/policies/guardrail/webhook.ts": "guardrail",
  "observability/tracing/otlp.ts": "traces",
  "kubernetes/client/api.ts": "direct: the API server is in the cluster",
  "identity/mail/mailer.ts": "direct: mail is not HTTP",
  "redis/client.ts": "direct: a store",
  "redis/connector.ts": "direct: a store",
  "redis/sentinels.ts": "direct: a store",
  "redis/cluster/cluster-client.ts": "direct: a store",
  "storage/engines/mysql.ts": "direct: a store",
  "storage/engines/postgres.ts": "direct: a store",
};

let upstream: Upstream;
let own: Certificates;
let secure: Server;
let proxy: HttpProxy;
let gateway: GatewayProcess;
let root: Session;
let key: string;

beforeAll(async () => {
  [upstream, own] = await Promise.all([startUpstream(), createCertificates(2, NAMES.map(host))]);
  const pair = { cert: await readFile(own.cert), key: await readFile(own.key) };
  const plainPort = Number(new URL(upstream.url).port);
  secure = createServer(pair, (socket) => {
    const onward = connect(plainPort, "127.0.0.1");
    socket.pipe(onward).pipe(socket);
    socket.on("error", () => onward.destroy());
    onward.on("error", () => socket.destroy());
  });
  await new Promise<void>((resolve) => secure.listen(0, "127.0.0.1", resolve));
  const securePort = (secure.address() as AddressInfo).port;
  const routes = NAMES.flatMap((name) => [
    [`${host(name)}:443`, securePort],
    [`${host(name)}:80`, plainPort],
  ]);
  routes.push(["93.184.216.34:80", plainPort]);
  proxy = await startHttpProxy({ routes: Object.fromEntries(routes) as Record<string, number>, login: "gateway:p@ss" });
  const address = `http://${LOGIN}@127.0.0.1:${proxy.port}`;
  gateway = await startGateway({
    env: {
      FAIRWAY_HTTPS_PROXY: address,
      HTTP_PROXY: address,
      FAIRWAY_NO_PROXY: "direct.corp.test,10.0.0.0/8",
      FAIRWAY_CA_FILE: own.ca,
      FAIRWAY_GITHUB_URL: `https://${host("github")}`,
      FAIRWAY_GITHUB_API_URL: `https://${host("github")}`,
      FAIRWAY_TURNSTILE_URL: `https://${host("human")}`,
      FAIRWAY_OTLP_ENDPOINT: `https://${host("traces")}`,
      FAIRWAY_LOG_EXPORT_OTLP_ENDPOINT: `http://${host("logs")}`,
      FAIRWAY_LOG_EXPORT_S3_URL: `https://${host("bucket")}/logs`,
      FAIRWAY_LOG_EXPORT_S3_KEY_ID: "id",
      FAIRWAY_LOG_EXPORT_S3_KEY: "secret-key",
    },
  });
  root = await signIn(gateway.url);
  await setOptions(root, { RetryTimes: "0", SelfUseModeEnabled: "true" });
  key = await createToken(root);
}, 120_000);
afterAll(async () => {
  await gateway?.stop();
  await Promise.all([upstream?.stop(), proxy?.stop()]);
  secure?.close();
  if (own) await rm(dirname(own.ca), { recursive: true });
});

function ask(model: string, more: object = {}): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "hello" }], ...more }),
  });
}

const expectAsked = (target: string) => expect.poll(() => proxy.asked, { timeout: 30_000 }).toContain(target);
const tunnel = (name: string) => `CONNECT ${host(name)}:443`;

describe("through the proxy, to servers with certificates of a private authority", () => {
  test("go plain and streamed calls, and lists of models", async () => {
    const channel = { base_url: `https://${host("upstream")}`, models: "plain,streamed" };
    const id = await createChannel(root, channel);
    expect((await ask("plain")).status).toBe(200);
    expect(await (await ask("streamed", { stream: true })).text()).toContain("[DONE]");
    upstream.script("/v1/models", () => ({ body: { data: [{ id: "m" }] } }));
    expect(await root.must("GET", `/api/channel/fetch_models/${id}`)).toEqual(["m"]);
    expect(proxy.asked).toContain(tunnel("upstream"));
  });

  test("go calls to http addresses, forwarded without the login of the proxy", async () => {
    await createChannel(root, { base_url: `http://${host("upstream")}`, models: "unencrypted" });
    expect((await ask("unencrypted")).status).toBe(200);
    expect(proxy.asked).toContain(`POST http://${host("upstream")}/v1/chat/completions`);
    expect(upstream.requests.at(-1)?.headers).not.toHaveProperty("proxy-authorization");
  });

  test("go realtime sessions", async () => {
    await createChannel(root, { base_url: `https://${host("upstream")}`, models: "spoken" });
    await setModelRatios(root, { spoken: 1 });
    const before = proxy.asked.length;
    const socket = new WebSocket(`${gateway.url.replace("http", "ws")}/v1/realtime?model=spoken`, "realtime", {
      headers: { authorization: `Bearer ${key}` },
    });
    const [first] = (await once(socket, "message")) as [Buffer];
    expect(first.toString()).toContain("session.created");
    socket.close();
    expect(proxy.asked.slice(before)).toEqual([tunnel("upstream")]);
  });

  test("go exchanges of credentials for tokens", async () => {
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const account = {
      type: "service_account",
      project_id: "p",
      client_email: "gateway@p.example",
      private_key: privateKey.export({ type: "pkcs8", format: "pem" }),
      token_uri: `https://${host("token")}/token`,
    };
    upstream.script("/token", () => ({ body: { access_token: "granted", expires_in: 3600 } }));
    const base = `https://${host("upstream")}`;
    await createChannel(root, {
      type: 41,
      base_url: base,
      other: "us-east5",
      key: JSON.stringify(account),
      models: "gemini-2.5-pro",
    });
    await ask("gemini-2.5-pro");
    expect(proxy.asked).toContain(tunnel("token"));
    expect(upstream.requests.some(({ headers }) => headers.authorization === "Bearer granted")).toBe(true);
  });

  test("go sign-in and the human check", async () => {
    upstream.script("/login/oauth/access_token", () => ({ body: { access_token: "t" } }));
    upstream.script("/user", () => ({ body: { id: 7, login: "octocat" } }));
    upstream.script("/siteverify", () => ({ body: { success: true } }));
    await setOptions(root, { GitHubClientId: "id", GitHubClientSecret: "secret", GitHubOAuthEnabled: "true" });
    const begun = await fetch(`${gateway.url}/api/oauth/state`);
    const { data: state } = (await begun.json()) as { data: string };
    const cookie = begun.headers
      .getSetCookie()
      .map((line) => line.split(";")[0])
      .join("; ");
    const back = `${gateway.url}/api/oauth/github?code=abc&state=${state}`;
    expect(await (await fetch(back, { headers: { cookie } })).json()).toMatchObject({ success: true });
    await setOptions(root, { TurnstileSiteKey: "k", TurnstileSecretKey: "s", TurnstileCheckEnabled: "true" });
    await fetch(`${gateway.url}/api/reset_password?email=a@example.com&turnstile=x`);
    await setOptions(root, { TurnstileCheckEnabled: "false" });
    expect(proxy.asked).toEqual(expect.arrayContaining([tunnel("github"), tunnel("human")]));
  });

  test("go payments and published prices", async () => {
    upstream.script("/v1/checkout/sessions", () => ({ body: { url: "https://pay.example/1" } }));
    const provider = { StripeApiUrl: `https://${host("pay")}`, StripeSecretKey: "sk", StripeWebhookSecret: "wh" };
    await setOptions(root, { ServerAddress: "https://gw.example", ...provider, StripePrice: "1" });
    expect(await root.must("POST", "/api/user/stripe/pay", { amount: 10 })).toMatchObject({
      url: "https://pay.example/1",
    });
    const channels = [{ address: `https://${host("prices")}`, key: "", models: { unpriced: "unpriced" } }];
    await root.must("POST", "/api/import/prices", { channels, price_from_upstream: true, dry_run: true });
    expect(proxy.asked).toEqual(expect.arrayContaining([tunnel("pay"), tunnel("prices")]));
  });

  test("go questions to the guardrail", async () => {
    await createChannel(root, { base_url: `https://${host("upstream")}`, models: "judged" });
    upstream.script("/verdict", () => ({ body: { action: "block", reason: "no" } }));
    await setOptions(root, {
      GuardrailUrl: `https://${host("judge")}/verdict`,
      GuardrailSecret: "secret",
      GuardrailOnFailure: "block",
      GuardrailModels: "judged",
      GuardrailEnabled: "true",
    });
    await expect.poll(async () => (await ask("judged")).status).toBe(400);
    await setOptions(root, { GuardrailEnabled: "false" });
    expect(proxy.asked).toContain(tunnel("judge"));
  });

  test("go files that clients name, by the address that was checked", async () => {
    upstream.script("/a.png", () => ({ headers: { "content-type": "image/png" }, body: PNG }));
    upstream.script("/api/chat", () => ({
      body: { model: "m", message: { role: "assistant", content: "a kite" }, done: true, done_reason: "stop" },
    }));
    await createChannel(root, { type: 4, base_url: `https://${host("upstream")}`, models: "looking" });
    const look = (url: string) =>
      ask("looking", { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }] });
    expect((await look("http://93.184.216.34/a.png")).status).toBe(200);
    expect(proxy.asked).toContain("GET http://93.184.216.34/a.png");
    // Only the proxy can resolve this name, so the gateway cannot tell where it leads.
    expect((await look(`http://${host("upstream")}/a.png`)).status).toBe(400);
    expect(proxy.asked).not.toContain(`GET http://${host("upstream")}/a.png`);
  });

  test("go exported log rows and traces", { timeout: 60_000 }, async () => {
    await expectAsked(tunnel("traces"));
    await expectAsked(tunnel("bucket"));
    await expectAsked(`POST http://${host("logs")}/v1/logs`);
  });
});

// @weakness Network: A proxy is asked for addresses that the gateway refuses to call itself
test("addresses that are refused stay refused, and exceptions go directly", async () => {
  const before = proxy.asked.length;
  const refused = ["http://169.254.169.254", "https://169.254.169.254", "https://[::ffff:169.254.169.254]"];
  for (const [at, base_url] of [...refused, "http://metadata.google.internal"].entries()) {
    const answer = await root.call("POST", "/api/channel/fetch_models", { type: 1, key: "k", base_url });
    expect([at, answer.success]).toEqual([at, false]);
  }
  await createChannel(root, { base_url: "https://direct.corp.test", models: "excepted" });
  expect((await ask("excepted")).status).toBe(502);
  await createChannel(root, { base_url: upstream.url, models: "local" });
  expect((await ask("local")).status).toBe(200);
  const traced = /traces|logs|bucket/;
  expect(proxy.asked.slice(before).filter((target) => !traced.test(target))).toEqual([]);
});

test("the log names proxies without their passwords", () => {
  const line = gateway.logs.find(({ message }) => message === "outgoing connections");
  const place = `127.0.0.1:${proxy.port}`;
  expect(line).toMatchObject({ httpsProxy: place, httpProxy: place, authorities: 1 });
  expect(JSON.stringify(gateway.logs)).not.toMatch(/p%40ss|p@ss/);
});

/** A value import of what opens a connection, or a call of the global `fetch`. */
const OPENS = [
  /^import (?!type )[^;"]*"(?:undici|ws|nodemailer|ioredis|pg|mysql2[^"]*|@opentelemetry\/exporter[^"]*)";/m,
  /^import (?!type )[^;"]*\b(?:connect|createConnection|request|get|Socket|Agent)\b[^;"]*"node:(?:net|tls|https?|http2)";/m,
  /^import (?!type )[^;"]*"node:dgram";/m,
  /(?:await|return|=>|=) (?:globalThis\.)?fetch\(/,
];

test("every file of the gateway that can open a connection is a door of this test", async () => {
  const files = (await readdir(SOURCES, { recursive: true })).filter((file) =>
    /(?<!\.(?:test|contract))\.ts$/.test(file),
  );
  const found: string[] = [];
  for (const file of files) {
    const text = await readFile(join(SOURCES, file), "utf8");
    if (OPENS.some((pattern) => pattern.test(text))) found.push(file);
  }
  expect(found.sort()).toEqual(Object.keys(DOORS).sort());
});
