import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { chat, consumeRows, readError, useRelay } from "../../kit/relay-app.ts";
import {
  ANSWER,
  answer,
  BAD_PARAMETER,
  explain,
  FIRST,
  OVERLOADED,
  REFUSED,
  SECOND,
  TOO_LONG,
} from "./fallback-kit.ts";

const relay = useRelay();

beforeAll(async () => {
  await relay.gateway.channel(FIRST, { type: 14 });
  await relay.gateway.channel(SECOND);
  await relay.gateway.option("SelfUseModeEnabled", "false");
  await relay.gateway.option("ModelPrice", "{}");
  await relay.gateway.option("ModelRatio", JSON.stringify({ [FIRST]: 2.5, [SECOND]: 2, free: 0 }));
  await relay.gateway.option("CompletionRatio", JSON.stringify({ [FIRST]: 5, [SECOND]: 5 }));
});

beforeEach(() =>
  relay.gateway.option(
    "ModelFallbacks",
    JSON.stringify({ [FIRST]: [{ model: SECOND, on: ["error", "context", "content"] }] }),
  ),
);

describe("a request whose model cannot serve", () => {
  it.each([
    ["is overloaded", OVERLOADED, "overloaded"],
    ["cannot take the prompt", TOO_LONG, "context"],
    ["refuses without a word", REFUSED, "content"],
    ["sends no answer that can be read", { body: "<html>" }, "unreadable"],
  ])("is answered by the next one if its own %s", async (_what, said, reason) => {
    const seen = answer(relay, said, ANSWER);
    const response = await relay.ask(FIRST, { max_tokens: 50 });
    expect(response.status).toBe(200);
    expect(response.headers.get("x-fairway-model")).toBe(SECOND);
    expect(response.headers.get("x-fairway-fallback")).toBe(`from=${FIRST}; reason=${reason}; hops=1`);
    expect(await response.json()).toEqual(ANSWER.body);
    expect(seen.map(({ model }) => model)).toEqual([FIRST, SECOND]);
    await relay.gateway.settled();
    const rows = await consumeRows(relay.gateway, response.headers.get("x-request-id") ?? "");
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({ model_name: SECOND, quota: 140, prompt_tokens: 20, completion_tokens: 10 });
    expect(rows[0]?.other["fallback"]).toEqual({
      from: FIRST,
      reason,
      hops: [{ model: FIRST, outcome: reason, is_skipped: false }],
    });
  });

  it("gets the error of the last model that was called", async () => {
    answer(relay, OVERLOADED, BAD_PARAMETER);
    const response = await relay.ask(FIRST);
    expect(response.status).toBe(400);
    expect((await readError(response)).message).toMatch(/^bad param \(request id/);
  });

  it("does not fall back for a cause that its list leaves out", async () => {
    await relay.gateway.option("ModelFallbacks", JSON.stringify({ [FIRST]: [SECOND] }));
    const seen = answer(relay, TOO_LONG, ANSWER);
    expect((await relay.ask(FIRST)).status).toBe(400);
    expect(seen).toHaveLength(1);
  });

  it("does not fall back when the client is at fault", async () => {
    const seen = answer(
      relay,
      { status: 400, body: { type: "error", error: { type: "invalid_request_error", message: "no" } } },
      ANSWER,
    );
    expect((await relay.ask(FIRST)).status).toBe(400);
    expect(seen).toHaveLength(1);
  });

  it("shows every hop in its explanation", async () => {
    answer(relay, OVERLOADED, ANSWER);
    await relay.gateway.option("ModelFallbacks", JSON.stringify({ [FIRST]: ["nowhere", SECOND] }));
    const found = await explain(relay, await relay.ask(FIRST));
    expect(found).toMatchObject({ model: SECOND, outcome: "ok" });
    expect(found.summary).toBe(`Answered by ${SECOND} in place of ${FIRST}, which was left: overloaded.`);
    expect(found.fallback?.hops).toEqual([
      { model: FIRST, outcome: "overloaded", is_skipped: false },
      { model: "nowhere", outcome: "model_not_found", is_skipped: true },
    ]);
    expect(found.attempts.map(({ upstream_model: model }) => model)).toEqual([FIRST, SECOND]);
  });

  it("continues with another model if no channel of its own is enabled", async () => {
    const id = await relay.gateway.channel("switched-off");
    await relay.gateway.root.must("PUT", "/api/channel/", { id, status: 2 });
    await relay.gateway.option("ModelRatio", JSON.stringify({ "switched-off": 1, [FIRST]: 2.5, [SECOND]: 2 }));
    await relay.gateway.option("ModelFallbacks", JSON.stringify({ "switched-*": [SECOND] }));
    answer(relay, OVERLOADED, ANSWER);
    const response = await relay.ask("switched-off");
    expect(response.headers.get("x-fairway-fallback")).toBe("from=switched-off; reason=no_available_channel; hops=1");
    expect(response.status).toBe(200);
  });
});

describe("each model of a list", () => {
  it("is left out if the key may not use it, and the client gets the first model's error", async () => {
    const key = await relay.gateway.token({ model_limits_enabled: true, model_limits: FIRST });
    const seen = answer(relay, OVERLOADED, ANSWER);
    await relay.gateway.option("RetryTimes", 0);
    const response = await relay.gateway.post("/v1/chat/completions", chat(FIRST), key);
    expect(response.status).toBe(503);
    expect((await readError(response)).message).toMatch(/^Overloaded \(request id/);
    expect(response.headers.get("x-fairway-fallback")).toBeNull();
    expect(seen.every(({ model }) => model === FIRST)).toBe(true);
    await relay.gateway.option("RetryTimes", 3);
  });

  it("has to be paid for, even if the first model is free", async () => {
    await relay.gateway.option("ModelRatio", JSON.stringify({ [FIRST]: 0, [SECOND]: 2 }));
    const key = await relay.gateway.token({ unlimited_quota: false, remain_quota: 1 });
    const seen = answer(relay, OVERLOADED, ANSWER);
    const response = await relay.gateway.post("/v1/chat/completions", chat(FIRST, { max_tokens: 50 }), key);
    expect(response.status).toBe(503);
    expect(seen.some(({ model }) => model === SECOND)).toBe(false);
    await relay.gateway.option("ModelRatio", JSON.stringify({ [FIRST]: 2.5, [SECOND]: 2 }));
  });

  it("has to have a price", async () => {
    await relay.gateway.channel("unpriced-model");
    await relay.gateway.option("ModelFallbacks", JSON.stringify({ [FIRST]: ["unpriced-model"] }));
    const seen = answer(relay, OVERLOADED, ANSWER);
    expect((await relay.ask(FIRST)).status).toBe(503);
    expect(seen.some(({ model }) => model === "unpriced-model")).toBe(false);
  });

  it("has its own limits, and the caller's are counted once", async () => {
    await relay.gateway.option("ModelLimits", JSON.stringify({ [SECOND]: { rpm: 1 } }));
    const key = await relay.gateway.token({ limits: { rpm: 2 } });
    answer(relay, OVERLOADED, ANSWER);
    const ask = () => relay.gateway.post("/v1/chat/completions", chat(FIRST), key);
    expect((await ask()).status).toBe(200);
    expect((await ask()).status).toBe(503);
    expect((await ask()).status).toBe(429);
    await relay.gateway.option("ModelLimits", "{}");
  });

  it("may be reached because the first one's limit is used up", async () => {
    await relay.gateway.option("ModelLimits", JSON.stringify({ [FIRST]: { rpm: 1 } }));
    await relay.gateway.option("ModelFallbacks", JSON.stringify({ [FIRST]: [{ model: SECOND, on: ["limit"] }] }));
    answer(relay, { ...OVERLOADED, status: 400 }, ANSWER);
    await relay.ask(FIRST);
    const response = await relay.ask(FIRST);
    expect(response.headers.get("x-fairway-fallback")).toBe(`from=${FIRST}; reason=limit; hops=1`);
    await relay.gateway.option("ModelLimits", "{}");
  });

  it("is called in order, eight calls at most, and no channel twice before the end of the list", async () => {
    const names = ["m1", "m2", "m3", "m4", "m5"];
    for (const name of [...names, "m0", "m0", "m0", "m0"]) await relay.gateway.channel(name);
    await relay.gateway.option(
      "ModelRatio",
      JSON.stringify(Object.fromEntries(["m0", ...names].map((name) => [name, 1]))),
    );
    await relay.gateway.option("ModelFallbacks", JSON.stringify({ m0: names }));
    await relay.gateway.option("RetryTimes", 9);
    const seen = answer(relay, OVERLOADED, { status: 500, body: { error: { message: "broken" } } });
    expect((await relay.ask("m0")).status).toBe(500);
    expect(seen.map(({ model }) => model)).toEqual(["m0", "m0", "m0", ...names]);
    await relay.gateway.option("RetryTimes", 3);
    await relay.gateway.option("ModelRatio", JSON.stringify({ [FIRST]: 2.5, [SECOND]: 2 }));
  });
});

describe("a stream", () => {
  const events = (...data: object[]) =>
    data.map((one) => `event: ${(one as { type: string }).type}\ndata: ${JSON.stringify(one)}\n\n`).join("");
  const start = {
    type: "message_start",
    message: { ...(REFUSED.body as object), stop_reason: null },
  };

  it("continues with another model while it has no content", async () => {
    const refusal = {
      type: "message_delta",
      delta: { stop_reason: "refusal", stop_sequence: null },
      usage: { output_tokens: 0 },
    };
    const chunk = (delta: object, finish: string | null = null) =>
      `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: SECOND, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
    const stream = { headers: { "content-type": "text/event-stream" } };
    answer(
      relay,
      { ...stream, body: events(start, refusal, { type: "message_stop" }) },
      { ...stream, body: `${chunk({ role: "assistant", content: "ok" })}${chunk({}, "stop")}data: [DONE]\n\n` },
    );
    const response = await relay.ask(FIRST, { stream: true });
    expect(response.headers.get("x-fairway-model")).toBe(SECOND);
    const body = await response.text();
    expect(body).toContain('"content":"ok"');
    expect(body).not.toContain("msg_r");
  });

  it("stays with its model after its first content", async () => {
    const block = { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } };
    const delta = { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hel" } };
    const error = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
    const seen = answer(
      relay,
      { headers: { "content-type": "text/event-stream" }, body: events(start, block, delta, error) },
      ANSWER,
    );
    const response = await relay.ask(FIRST, { stream: true });
    expect(await response.text()).toContain("Hel");
    expect(seen).toHaveLength(1);
  });
});
