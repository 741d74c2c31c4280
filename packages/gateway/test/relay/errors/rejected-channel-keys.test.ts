// Several upstream keys in one channel: the rejected one is skipped, the request continues with the others.
import type { ChannelHealth, ChannelKey } from "@fairway/wire";
import { afterEach, beforeEach, expect, it } from "vitest";
import { useRelay } from "../../kit/relay-app.ts";

const relay = useRelay();
const CHAT = {
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 },
};

beforeEach(async () => {
  await relay.gateway.option("AutomaticDisableChannelEnabled", true);
  await relay.gateway.option("RetryTimes", 3);
  relay.gateway.upstream.script("/v1/chat/completions", ({ headers }) => {
    const used = String(headers.authorization);
    if (used.includes("dead"))
      return { status: 401, body: { error: { message: "Incorrect API key provided", code: "invalid_api_key" } } };
    if (used.includes("overloaded"))
      return { status: 503, headers: { "retry-after": "40" }, body: { error: { message: "Overloaded" } } };
    if (used.includes("busy")) return { status: 429, headers: { "retry-after": "30" }, body: { error: {} } };
    return { body: CHAT };
  });
});
afterEach(async () => {
  await relay.gateway.option("AutomaticDisableChannelEnabled", false);
  await relay.gateway.option("RetryTimes", 0);
});

const channel = (model: string, key: string, setting: object) =>
  relay.gateway.channel(model, { key, multi_key: true, setting: JSON.stringify(setting) });
const listKeys = (id: number) => relay.gateway.root.must<ChannelKey[]>("GET", `/api/channel/${id}/keys`);
const used = () =>
  relay.gateway.upstream.requests.map(({ headers }) => String(headers.authorization).replace("Bearer ", ""));

async function ask(model: string): Promise<number> {
  const response = await relay.ask(model);
  await response.text();
  return response.status;
}

async function until<T>(read: () => Promise<T>, isDone: (value: T) => boolean): Promise<T> {
  for (let turn = 0; ; turn += 1) {
    const value = await read();
    if (isDone(value) || turn === 100) return value;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

it("switches only the dead key off, and serves the request with another one", async () => {
  const id = await channel("keys", "sk-dead\nsk-fine\nsk-good", { multi_key_mode: "polling" });
  expect(await ask("keys")).toBe(200);
  expect(used()).toHaveLength(2);
  const states = await until(
    () => listKeys(id),
    (keys) => keys.some(({ status }) => status === 3),
  );
  expect(states.map(({ status }) => status)).toEqual([3, 1, 1]);
  expect(states[0]?.reason).toContain("Incorrect API key");
  const before = used().length;
  for (let at = 0; at < 4; at += 1) expect(await ask("keys")).toBe(200);
  expect(used().slice(before).toSorted()).toEqual(["sk-fine", "sk-fine", "sk-good", "sk-good"]);
});

it("switches the channel off with its last dead key", async () => {
  const id = await channel("dying", "sk-dead1\nsk-dead2", {});
  expect(await ask("dying")).toBe(502);
  const row = () =>
    relay.gateway.database.db.selectFrom("channels").select("status").where("id", "=", id).executeTakeFirstOrThrow();
  expect((await until(row, ({ status }) => status === 3)).status).toBe(3);
  expect((await listKeys(id)).map(({ status }) => status)).toEqual([3, 3]);
  expect(await ask("dying")).toBe(503);
});

it("uses another key while one rests after a 429", async () => {
  await channel("resting", "sk-busy\nsk-fine", { multi_key_mode: "polling" });
  expect(await ask("resting")).toBe(200);
  expect(used()).toEqual(["sk-busy", "sk-fine"]);
});

it("rests a key of an overloaded upstream for the time that it names", async () => {
  const id = await channel("overloaded", "sk-overloaded\nsk-good", { multi_key_mode: "polling" });
  for (let at = 0; at < 4; at += 1) expect(await ask("overloaded")).toBe(200);
  expect(used().filter((key) => key === "sk-overloaded")).toHaveLength(1);
  const health = await relay.gateway.root.must<ChannelHealth[]>("GET", "/api/channel/health");
  const ofChannel = health.filter(({ channel_id: channelId }) => channelId === id);
  expect(ofChannel.map(({ state, key_index: index }) => [state, index])).toEqual([
    ["failing", 0],
    ["resting", 0],
  ]);
  expect(ofChannel[1]?.wait_ms).toBeGreaterThan(30_000);
});

it("skips a key that is rejected repeatedly and not switched off", async () => {
  await relay.gateway.option("AutomaticDisableChannelEnabled", false);
  await relay.gateway.option("RetryTimes", 0);
  const id = await channel("refused", "sk-dead-again\nsk-good", { multi_key_mode: "polling" });
  const statuses: number[] = [];
  for (let at = 0; at < 14; at += 1) statuses.push(await ask("refused"));
  expect(statuses.filter((status) => status !== 200)).toHaveLength(5);
  expect(statuses.slice(-4)).toEqual([200, 200, 200, 200]);
  await relay.gateway.root.must("PUT", "/api/channel/", { id, key: "sk-other\nsk-good" });
  expect([await ask("refused"), await ask("refused")]).toEqual([200, 200]);
  expect(new Set(used().slice(-2))).toEqual(new Set(["sk-other", "sk-good"]));
});
