import { freshRedis } from "@fairway/testkit/databases";
import { randomBytes } from "node:crypto";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Secret } from "../../lib/secret.ts";
import { createLog } from "../../observability/log.ts";
import { createRedisClient, type RedisClient } from "../../redis/client.ts";
import { createKeys } from "../../redis/keys.ts";
import { createWaitBudget } from "../../redis/wait-budget.ts";
import { createVault } from "../../storage/secrets/secrets.ts";
import type { TtlStore, Entry } from "../ttl-store/ttl-store.ts";
import { createMemoryEntries } from "../ttl-store/memory.ts";
import { createRedisEntries } from "../ttl-store/redis.ts";
import { jsonBody } from "../body/read-body.ts";
import { createResponseStore, type MadeResponse } from "./response-store.ts";

const vault = createVault({ keys: [{ id: "k", key: new Secret(randomBytes(32).toString("base64")) }] });
const log = createLog({ level: "off", format: "text", out: new PassThrough() });
const clients: RedisClient[] = [];
let service: Awaited<ReturnType<typeof freshRedis>>;
let serial = 0;

beforeAll(async () => {
  service = await freshRedis();
});
afterAll(async () => {
  for (const client of clients) await client.close();
});

async function connect(prefix: string): Promise<RedisClient> {
  const redis = createRedisClient({ url: new Secret(service.url), keys: createKeys(prefix), log, name: "test" });
  clients.push(redis);
  await redis.ready(30_000);
  return redis;
}

type Room = readonly [outputs: TtlStore<Entry>, requests: TtlStore<Entry>];

function inRedis(redis: RedisClient): Room {
  const waitBudget = createWaitBudget(2_000);
  const entries = (what: string) =>
    createRedisEntries({
      redis,
      sealer: vault,
      keys: (name) => redis.keys.responses(`${what}-${name}`),
      waitBudget: () => waitBudget,
      onFailure: () => {},
    });
  return [entries("outputs"), entries("requests")];
}

/** Response store with a clock and options that a test changes. */
function storeIn([outputs, requests]: Room) {
  const options = { KeptResponsesHours: 24, KeptResponsesMegabytes: 64 };
  const clock = { now: Date.now() };
  const deps = { outputs, requests, vault, options: () => options, now: () => clock.now };
  return { ...createResponseStore(deps), options, clock };
}

const buildId = (name: number) => `resp_${String(name).padStart(26, "0")}`;
const made = (name: number, said = "hi", input = "ask", previous: string | null = null): MadeResponse => ({
  input: [{ type: "message", role: "user", content: input }],
  response: {
    id: buildId(name),
    object: "response",
    previous_response_id: previous,
    output: [{ type: "message", id: `msg_${name}`, content: said }],
    model: "m",
  },
});

describe.each<[string, () => Promise<Room>]>([
  ["memory", () => Promise.resolve([createMemoryEntries(), createMemoryEntries()])],
  ["Redis", async () => inRedis(await connect(`k${++serial}:`))],
])("responses in %s", (_name, room) => {
  it("are returned whole, only to their user", async () => {
    const store = storeIn(await room());
    const grüße = made(1, "Grüße 你好\n👩‍👩‍👧", "line\nline", buildId(0));
    store.keep(grüße, 7);
    await expect.poll(() => store.find(buildId(1), 7)).toBeDefined();
    const found = await store.find(buildId(1), 7);
    expect(found?.response()).toEqual(grüße.response);
    expect(found).toMatchObject({ input: grüße.input, previous: buildId(0), output: grüße.response["output"] });
    expect(await store.output(buildId(1), 7)).toMatchObject({ output: grüße.response["output"], previous: buildId(0) });
    for (const [id, user] of [
      [buildId(1), 8],
      [buildId(2), 7],
      ["resp_abc", 7],
    ] as const)
      expect([await store.find(id, user), await store.output(id, user)]).toEqual([undefined, undefined]);
  });

  it("expire, also after the lifetime was shortened", async () => {
    const store = storeIn(await room());
    store.keep(made(1), 7);
    await expect.poll(() => store.find(buildId(1), 7)).toBeDefined();
    store.clock.now += 23 * 3_600_000;
    expect(await store.find(buildId(1), 7)).toBeDefined();
    store.options.KeptResponsesHours = 12;
    expect(await store.find(buildId(1), 7)).toBeUndefined();
    store.options.KeptResponsesHours = 0;
    store.clock.now -= 23 * 3_600_000;
    expect([await store.output(buildId(1), 7), store.takes(jsonBody(Buffer.from("{}")))]).toEqual([undefined, false]);
  });

  it("are deleted for good", async () => {
    const store = storeIn(await room());
    for (const name of [1, 2]) store.keep(made(name), 7);
    await expect.poll(() => store.find(buildId(2), 7)).toBeDefined();
    await store.forget(buildId(1), 8);
    expect(await store.find(buildId(1), 7)).toBeDefined();
    await store.forget(buildId(1), 7);
    expect([await store.find(buildId(1), 7), await store.output(buildId(1), 7)]).toEqual([undefined, undefined]);
    expect(await store.find(buildId(2), 7)).toBeDefined();
  });

  it("stay within their size; long requests do not push out outputs", async () => {
    const store = storeIn(await room());
    store.options.KeptResponsesMegabytes = 1;
    const names = Array.from({ length: 20 }, (_, at) => at + 1);
    for (const name of names) store.keep(made(name, "short", "x".repeat(100_000)), 7);
    await expect.poll(() => store.find(buildId(20), 7)).toBeDefined();
    expect(await store.find(buildId(1), 7)).toBeUndefined();
    const outputs = await Promise.all(names.map((name) => store.output(buildId(name), 7)));
    expect(outputs.every((one) => one !== undefined)).toBe(true);
    const createBody = (bytes: number) => jsonBody(Buffer.alloc(bytes));
    expect([store.takes(createBody(100_000)), store.takes(createBody(200_000))]).toEqual([true, false]);
  });
});

it("entries in Redis are sealed under an opaque key, counted, and expire", async () => {
  const redis = await connect("sealed:");
  const store = storeIn(inRedis(redis));
  store.keep(made(1, "a secret answer", "a secret question"), 7);
  await expect.poll(() => store.find(buildId(1), 7)).toBeDefined();
  const names = (await redis.sendOne({ command: "KEYS", args: ["sealed:*"] }, 1_000)) as string[];
  expect(new Set(names)).toEqual(
    new Set(
      ["outputs", "requests"].flatMap((what) =>
        ["entries", "ends", "bytes"].map((name) => `sealed:{responses}${what}-${name}`),
      ),
    ),
  );
  const readBytes = async (what: string) =>
    Number(await redis.sendOne({ command: "GET", args: [redis.keys.responses(`${what}-bytes`)] }, 1_000));
  for (const what of ["outputs", "requests"]) {
    const hash = redis.keys.responses(`${what}-entries`);
    const [key = "", value = ""] = (await redis.sendOne({ command: "HGETALL", args: [hash] }, 1_000)) as string[];
    expect(key).toMatch(/^[0-9a-f]{64}$/);
    expect(value).toMatch(/^v2:k:/);
    expect(Buffer.from(value.split(":")[2] ?? "", "base64").toString("latin1")).not.toContain("secret");
    expect(await readBytes(what)).toBe(value.length);
    const left = Number(await redis.sendOne({ command: "PTTL", args: [hash] }, 1_000));
    expect(left).toBeGreaterThan(23 * 3_600_000);
    expect(left).toBeLessThanOrEqual(24 * 3_600_000);
  }
  await store.forget(buildId(1), 7);
  expect([await readBytes("outputs"), await readBytes("requests")]).toEqual([0, 0]);
});

it("rejects while Redis is away, and waits for it only once", async () => {
  const store = storeIn(inRedis(await connect("away:")));
  await service.stop();
  await expect(store.find(buildId(1), 7)).rejects.toMatchObject({ code: "responses_unavailable", status: 503 });
  await expect(store.forget(buildId(1), 7)).rejects.toMatchObject({ code: "responses_unavailable" });
  const since = performance.now();
  store.keep(made(1), 7);
  for (let turn = 0; turn < 100; turn++) await expect(store.output(buildId(1), 7)).rejects.toThrow(/try again/);
  // Waiting for each of them would take longer.
  expect(performance.now() - since).toBeLessThan(10_000);
});
