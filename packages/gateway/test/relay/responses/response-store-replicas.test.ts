import { createDatabase, freshRedis } from "@fairway/testkit/databases";
import type { Service } from "@fairway/testkit/services";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { anthropicMessages } from "./response-store-kit.ts";
import { readError, startRelayApp, type RelayApp } from "../../kit/relay-app.ts";

const replicas: RelayApp[] = [];
let redis: Service;
let key = "";

beforeAll(async () => {
  redis = await freshRedis();
  const url = await createDatabase("postgres");
  for (const name of ["one", "two"]) {
    const cluster = { FAIRWAY_REDIS_URL: redis.url, FAIRWAY_QUOTA_ON_OUTAGE: "sql", FAIRWAY_INSTANCE_ID: name };
    const limits = { FAIRWAY_MAX_BODY_BYTES: String(64 * 1024) };
    replicas.push(await startRelayApp({ FAIRWAY_DATABASE_URL: url, ...cluster, ...limits }));
  }
  const [one] = replicas as [RelayApp];
  await one.channel("claude", { type: 14 });
  key = await one.token();
  while ((await ask(1, { input: "x" })).status !== 200) await pause(50);
}, 60_000);
afterAll(async () => {
  for (const replica of replicas) await replica.close();
});

const ask = (replica: number, body: object) =>
  (replicas[replica] as RelayApp).post("/v1/responses", { model: "claude", ...body }, key);
const readAnswerId = async (answer: Response) => ((await answer.json()) as { id: string }).id;

it("a conversation continues at another replica", async () => {
  const first = await readAnswerId(await ask(0, { input: "one" }));
  const second = await readAnswerId(await ask(1, { input: "two", previous_response_id: first }));
  expect((await ask(0, { input: "three", previous_response_id: second })).status).toBe(200);
  const sent = anthropicMessages(replicas[0]?.upstream.requests.at(-1)?.json);
  expect(sent.map(([role]) => role)).toEqual(["user", "assistant", "user", "assistant", "user"]);
  expect(sent.filter(([role]) => role === "user").map(([, text]) => text)).toEqual(["one", "two", "three"]);
});

it("a conversation that has become too long is refused", async () => {
  const input = "x".repeat(60 * 1024);
  const first = await readAnswerId(await ask(0, { input }));
  const second = await readAnswerId(await ask(0, { input, previous_response_id: first }));
  const third = await ask(0, { input, previous_response_id: second });
  expect([third.status, (await readError(third)).code]).toEqual([413, "request_too_large"]);
});

it("while Redis is away follow-ups get an error, and other requests are answered", async () => {
  const first = await readAnswerId(await ask(0, { input: "one" }));
  await redis.stop();
  const next = await ask(0, { input: "two", previous_response_id: first });
  expect([next.status, (await readError(next)).code]).toEqual([503, "responses_unavailable"]);
  expect(next.headers.get("retry-after")).toBe("1");
  const read = await fetch(`${replicas[0]?.url}/v1/responses/${first}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  expect(read.status).toBe(503);
  await expect.poll(async () => (await ask(0, { input: "x" })).status, { timeout: 20_000 }).toBe(200);
}, 30_000);
