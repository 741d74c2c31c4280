// Two replicas, one of them cut off from Redis, and an account that can pay for a few of many calls.
import { afterAll, describe, expect, test } from "vitest";
import { createDatabase, freshRedis } from "../src/databases.ts";
import {
  createChannel,
  createToken,
  ROOT_PASSWORD,
  setOptions,
  signIn,
  startGateway,
  startUpstream,
  type GatewayProcess,
  type Session,
} from "../src/index.ts";
import { startProxy } from "../src/proxy.ts";

const CALLS = 200;
const COVERED = 3;
/** One cent in quota units. */
const PRICE = 5_000;
const PASSWORD = "cut-off-password-1";

const stops: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
}, 60_000);

async function startPair() {
  const upstream = await startUpstream();
  const redis = await freshRedis({ isDurable: true });
  const proxy = await startProxy(redis.port);
  stops.push(
    () => upstream.stop(),
    () => proxy.stop(),
  );
  const database = await createDatabase("postgres");
  const open = async (url: string) => {
    const replica = await startGateway({ database, redis: url, env: { FAIRWAY_QUOTA_ON_OUTAGE: "sql" } });
    stops.push(() => replica.stop());
    return replica;
  };
  const connected = await open(redis.url);
  const cutOff = await open(`redis://127.0.0.1:${proxy.port}`);
  const root = await signIn(connected.url, "root", ROOT_PASSWORD);
  await createChannel(root, { base_url: upstream.url, models: "plain" });
  await setOptions(root, { ModelPrice: JSON.stringify({ plain: 0.01 }), QuotaForNewUser: String(COVERED * PRICE + 1) });
  return { proxy, connected, cutOff, root };
}

async function openAccount(root: Session) {
  await root.must("POST", "/api/user/", { username: "payer", password: PASSWORD, display_name: "payer" });
  const user = await signIn(root.url, "payer", PASSWORD);
  return { user, key: await createToken(user, { name: "unlimited" }) };
}

const ask = async ({ url }: GatewayProcess, key: string) => {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "plain", messages: [{ role: "user", content: "hi" }] }),
  });
  await answer.text();
  return answer.status;
};

describe("a replica that is cut off from Redis", () => {
  test("and one that is not serve, of 200 calls at once, exactly what the money covers", async () => {
    const { proxy, connected, cutOff, root } = await startPair();
    const { user, key } = await openAccount(root);
    await expect.poll(() => ask(cutOff, "sk-unknown"), { timeout: 20_000 }).toBe(401);
    proxy.isClosed = true;
    proxy.cut();
    const statuses = await Promise.all(
      Array.from({ length: CALLS }, (_, at) => ask(at % 2 === 0 ? connected : cutOff, key)),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(COVERED);
    expect(statuses.filter((status) => status !== 200 && status !== 403)).toEqual([]);
    await expect
      .poll(async () => (await user.must<{ quota: number }>("GET", "/api/user/self")).quota, { timeout: 20_000 })
      .toBe(1);
  }, 120_000);
});
