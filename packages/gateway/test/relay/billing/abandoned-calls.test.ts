import { afterEach, describe, expect, it } from "vitest";
import { chat, consumeRows, useRelay } from "../../kit/relay-app.ts";

const relay = useRelay();

afterEach(async () => {
  await relay.gateway.option("FinishAbandonedCalls", "false");
  await relay.gateway.option("BillAbortedPrompt", "false");
});

/** Sends a plain call whose client leaves while the upstream works. */
async function abandon(path: string, body: object): Promise<void> {
  let finished = false;
  const { upstream } = relay.gateway;
  const answerAfter = async (answer: object) => {
    await new Promise((resolve) => setTimeout(resolve, 400));
    finished = true;
    return { body: answer as Record<string, unknown> };
  };
  upstream.script("/chat/completions", () => answerAfter(completion()));
  const controller = new AbortController();
  const calling = relay.gateway
    .post(path, body, relay.key, { signal: controller.signal })
    .catch((error: unknown) => error);
  await expect.poll(() => upstream.requests.length).toBeGreaterThan(0);
  controller.abort();
  await calling;
  await expect.poll(() => finished, { timeout: 5_000 }).toBe(true);
  await relay.gateway.settled();
}

async function lastRow() {
  return (await consumeRows(relay.gateway)).at(-1);
}

const REQUESTS = [
  ["/v1/chat/completions", chat("gpt-4o")],
  ["/v1/messages", { model: "gpt-4o", max_tokens: 1_000, messages: [{ role: "user", content: "hi" }] }],
  ["/v1/responses", { model: "gpt-4o", input: "hi" }],
  ["/v1beta/models/gpt-4o:generateContent", { contents: [{ role: "user", parts: [{ text: "hi" }] }] }],
] as const;

// @weakness Money: A client that leaves each plain call uses the upstream for nothing and leaves no trace
describe.each(REQUESTS)("a plain call of %s that its client leaves", (path, body) => {
  it("has a log row, and costs nothing where it was cancelled", async () => {
    await relay.gateway.channel("gpt-4o", { setting: JSON.stringify({ responses_mode: "never" }) });
    await abandon(path, body);
    expect(await lastRow()).toMatchObject({ quota: 0, other: { end_reason: "client_abort" } });
  });

  it("costs its prompt where the operator wants that", async () => {
    await relay.gateway.channel("gpt-4o", { setting: JSON.stringify({ responses_mode: "never" }) });
    await relay.gateway.option("BillAbortedPrompt", "true");
    await abandon(path, body);
    const row = await lastRow();
    expect(row).toMatchObject({ completion_tokens: 0, other: { end_reason: "client_abort" } });
    expect(row?.quota).toBeGreaterThan(0);
  });

  it("is read to its end and charged by its usage where the operator wants that", async () => {
    await relay.gateway.channel("gpt-4o", { setting: JSON.stringify({ responses_mode: "never" }) });
    await relay.gateway.option("FinishAbandonedCalls", "true");
    await abandon(path, body);
    expect(await lastRow()).toMatchObject({
      prompt_tokens: 34,
      completion_tokens: 435,
      other: { end_reason: "client_abort" },
    });
  });
});

function completion() {
  return {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "gpt-4o",
    choices: [{ index: 0, message: { role: "assistant", content: "word ".repeat(400) }, finish_reason: "stop" }],
    usage: { prompt_tokens: 34, completion_tokens: 435, total_tokens: 469 },
  };
}
