import { once } from "node:events";
import { beforeAll, describe, expect, it } from "vitest";
import WebSocket from "ws";
import { chat, consumeRows, splitEvents, useRelay } from "../../kit/relay-app.ts";

const relay = useRelay();

/** With an absurd ratio, these tokens cost more than a balance can hold. */
const RATIO = 1e12;
const SOUND = 100_000_000;
const usage = {
  prompt_tokens: SOUND,
  completion_tokens: 1,
  total_tokens: SOUND + 1,
  prompt_tokens_details: { audio_tokens: SOUND },
};

beforeAll(async () => {
  const models = ["loud-stream", "loud-whole", "loud-talk"];
  const of = (ratio: number) => JSON.stringify(Object.fromEntries(models.map((model) => [model, ratio])));
  await relay.gateway.option("ModelRatio", of(1));
  await relay.gateway.option("AudioRatio", of(RATIO));
});

const metric = async (name: string) => {
  const text = await (await fetch(`${relay.gateway.adminUrl}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(text)?.[1] ?? 0);
};
const failures = () => metric('fairway_settlement_failures_total{final="true"}');

async function expectReserved(model: string, before: number): Promise<void> {
  await relay.gateway.settled();
  const [row] = (await consumeRows(relay.gateway)).filter(({ model_name }) => model_name === model);
  expect(row?.quota).toBeGreaterThan(0);
  expect(row?.quota).toBeLessThan(1_000_000);
  expect(await failures()).toBe(before + 1);
  const line = relay.gateway
    .logLines()
    .split("\n")
    .find((one) => one.includes("cannot be computed") && one.includes(row?.request_id ?? "?"));
  expect(line).toBeDefined();
}

describe("a charge beyond every balance", () => {
  it("charges a stream its reservation; the stream ends regularly", async () => {
    await relay.gateway.channel("loud-stream");
    relay.gateway.upstream.script("/chat/completions", () => {
      const chunk = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" };
      const said = { ...chunk, choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: "stop" }] };
      const usageChunk = { ...chunk, choices: [], usage };
      const body = [said, usageChunk].map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
      return { headers: { "content-type": "text/event-stream" }, body: `${body}data: [DONE]\n\n` };
    });
    const before = await failures();
    const response = await relay.ask("loud-stream", { stream: true });
    expect(splitEvents(await response.text()).at(-1)).toBe("data: [DONE]");
    await expectReserved("loud-stream", before);
  });

  it("charges a whole answer its reservation, and tries no other channel", async () => {
    await relay.gateway.option("RetryTimes", 2);
    await relay.gateway.channel("loud-whole");
    await relay.gateway.channel("loud-whole");
    let asked = 0;
    relay.gateway.upstream.script("/chat/completions", () => {
      asked += 1;
      const choices = [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }];
      return { body: { id: "c", object: "chat.completion", created: 1, model: "m", choices, usage } };
    });
    const before = await failures();
    expect((await relay.gateway.post("/v1/chat/completions", chat("loud-whole"), relay.key)).status).toBe(200);
    await expectReserved("loud-whole", before);
    expect(asked).toBe(1);
    await relay.gateway.option("RetryTimes", 0);
  });

  it("refuses a realtime session, which reserves its sound before it begins", async () => {
    await relay.gateway.channel("loud-talk");
    const before = await failures();
    const url = `${relay.gateway.url.replace("http", "ws")}/v1/realtime?model=loud-talk`;
    const socket = new WebSocket(url, { headers: { authorization: `Bearer ${relay.key}` } });
    const [error] = (await once(socket, "error")) as [Error];
    expect(error.message).toBe("Unexpected server response: 403");
    await relay.gateway.settled();
    expect((await consumeRows(relay.gateway)).filter(({ model_name }) => model_name === "loud-talk")).toEqual([]);
    expect(await failures()).toBe(before);
  });
});
