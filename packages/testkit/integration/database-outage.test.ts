// The database is unavailable but Redis is not: an option decides what happens to new calls, and the probes report it.
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDatabase, freshRedis } from "../src/databases.ts";
import {
  createChannel,
  createToken,
  ROOT_PASSWORD,
  setModelRatios,
  signIn,
  startGateway,
  startUpstream,
  type GatewayProcess,
  type Upstream,
} from "../src/index.ts";
import { startProxy, type Proxy } from "../src/proxy.ts";

let upstream: Upstream;
let proxy: Proxy;
let serving: GatewayProcess;
let denying: GatewayProcess;
let key: string;

beforeAll(async () => {
  upstream = await startUpstream();
  const database = new URL(await createDatabase("mariadb"));
  proxy = await startProxy(Number(database.port));
  database.port = String(proxy.port);
  const settings = { database: database.href, redis: (await freshRedis({ isDurable: true })).url };
  serving = await startGateway(settings);
  denying = await startGateway({ ...settings, env: { FAIRWAY_DATABASE_ON_OUTAGE: "deny" } });
  const root = await signIn(serving.url, "root", ROOT_PASSWORD);
  await setModelRatios(root, { plain: 1 });
  await createChannel(root, { base_url: upstream.url, models: "plain" });
  key = await createToken(root);
}, 120_000);
afterAll(async () => {
  if (proxy) proxy.isClosed = false;
  await Promise.all([serving?.stop(), denying?.stop()]);
  await proxy?.stop();
  await upstream?.stop();
}, 60_000);

async function ask({ url }: GatewayProcess): Promise<Response> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "plain", messages: [{ role: "user", content: "hi" }] }),
  });
  await response.clone().text();
  return response;
}
const fetchStatus = async (gateway: GatewayProcess) => (await ask(gateway)).status;
const read = async ({ adminUrl }: GatewayProcess, path: string) => (await fetch(`${adminUrl}${path}`)).text();

test("known keys are served, or no one is", async () => {
  await expect.poll(() => Promise.all([serving, denying].map(fetchStatus)), { timeout: 10_000 }).toEqual([200, 200]);
  proxy.isClosed = true;
  proxy.cut();
  await expect
    .poll(() => read(denying, "/readyz?verbose"), { timeout: 15_000, interval: 200 })
    .toContain(
      "[!] keys and charges the database is away: new model calls are refused (FAIRWAY_DATABASE_ON_OUTAGE=deny)",
    );
  await expect
    .poll(() => read(serving, "/readyz?verbose"), { timeout: 15_000, interval: 200 })
    .toContain("[!] keys and charges the database is away: known keys are served for ten minutes");
  expect(await fetchStatus(serving)).toBe(200);
  const refused = await ask(denying);
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "5"]);
  expect(await refused.json()).toMatchObject({ error: { code: "balances_unavailable" } });
  expect(await read(denying, "/metrics")).toContain('fairway_degraded{part="keys and charges",mode="deny"} 1');
  proxy.isClosed = false;
  await expect.poll(() => fetchStatus(denying), { timeout: 15_000, interval: 200 }).toBe(200);
  expect(await read(denying, "/readyz?verbose")).toContain("[+] keys and charges with the database");
}, 90_000);
