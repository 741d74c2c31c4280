// Streams that open but send no content: the client has received none, so it owes nothing and another channel may
// serve.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseEvents } from "../../../src/lib/text/sse.ts";
import { chat, consumeRows, useRelay, type ConsumeRow } from "../../kit/relay-app.ts";
import { buildEventBlocks, startRawUpstream, streamed, type RawUpstream } from "../../kit/raw-upstream.ts";

const relay = useRelay();
const LONG = "word ".repeat(2_000);
const CLIENTS = ["chat", "messages", "responses", "gemini"] as const;
type Client = (typeof CLIENTS)[number];

let upstream: RawUpstream;
beforeAll(async () => {
  upstream = await startRawUpstream();
  await relay.gateway.option("RetryTimes", 2);
});
afterAll(() => upstream.close());

const chunk = (delta: object, finish: string | null = null, more: object = {}) => ({
  id: "c",
  object: "chat.completion.chunk",
  created: 1,
  model: "m",
  choices: [{ index: 0, delta, finish_reason: finish }],
  ...more,
});
const message = { id: "msg", type: "message", role: "assistant", content: [], model: "m", stop_reason: null };
const MESSAGE_START = { type: "message_start", message: { ...message, usage: { input_tokens: 9, output_tokens: 0 } } };
const response = { id: "resp_1", object: "response", created_at: 1, model: "m", output: [], usage: null };
const CREATED = { type: "response.created", sequence_number: 0, response: { ...response, status: "in_progress" } };
const IN_PROGRESS = { ...CREATED, type: "response.in_progress", sequence_number: 1 };
const FAILED = {
  type: "response.failed",
  sequence_number: 2,
  response: { ...response, status: "failed", error: { code: "server_error", message: "no" } },
};
const OVERLOADED = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };

interface Upstream {
  readonly type: number;
  readonly named: boolean;
  /** Events of the answer without content. */
  readonly opening: readonly object[];
  readonly error: object;
  readonly answer: readonly (object | string)[];
}

const USAGE = { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 };
const UPSTREAMS: Readonly<Record<string, Upstream>> = {
  chat: {
    type: 1005,
    named: false,
    opening: [
      chunk({ role: "assistant", content: "" }),
      chunk({ content: "" }),
      { id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [] },
    ],
    error: { error: { message: "The engine is on fire.", type: "server_error" } },
    answer: [
      chunk({ role: "assistant", content: "" }),
      chunk({ content: "Served." }),
      chunk({}, "stop", { usage: USAGE }),
      "[DONE]",
    ],
  },
  messages: {
    type: 14,
    named: true,
    opening: [
      MESSAGE_START,
      { type: "ping" },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "" } },
    ],
    error: OVERLOADED,
    answer: [
      MESSAGE_START,
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Served." } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { input_tokens: 20, output_tokens: 5 } },
      { type: "message_stop" },
    ],
  },
  gemini: {
    type: 24,
    named: false,
    opening: [{ candidates: [{ content: { role: "model", parts: [{ text: "" }] }, index: 0 }], modelVersion: "m" }],
    error: { error: { code: 503, message: "busy", status: "UNAVAILABLE" } },
    answer: [
      {
        candidates: [{ content: { role: "model", parts: [{ text: "Served." }] }, index: 0, finishReason: "STOP" }],
        usageMetadata: { promptTokenCount: 20, candidatesTokenCount: 5, totalTokenCount: 25 },
      },
    ],
  },
};
const RESPONSES: Upstream = {
  type: 1,
  named: true,
  opening: [
    CREATED,
    IN_PROGRESS,
    {
      type: "response.output_item.added",
      sequence_number: 2,
      output_index: 0,
      item: { id: "rs_1", type: "reasoning", summary: [] },
    },
  ],
  error: FAILED,
  answer: [
    CREATED,
    {
      type: "response.output_text.delta",
      sequence_number: 1,
      item_id: "i",
      output_index: 0,
      content_index: 0,
      delta: "Served.",
    },
    {
      type: "response.completed",
      sequence_number: 2,
      response: { ...response, status: "completed", usage: { input_tokens: 20, output_tokens: 5, total_tokens: 25 } },
    },
  ],
};

function ask(client: Client, model: string, text = LONG): Promise<Response> {
  const { gateway, key } = relay;
  const messages = [{ role: "user", content: text }];
  switch (client) {
    case "chat":
      return gateway.post("/v1/chat/completions", { model, stream: true, messages }, key);
    case "messages":
      return gateway.post("/v1/messages", { model, stream: true, max_tokens: 50, messages }, key);
    case "responses":
      return gateway.post("/v1/responses", { model, stream: true, input: text }, key);
    case "gemini":
      return gateway.post(
        `/v1beta/models/${model}:streamGenerateContent?alt=sse`,
        { contents: [{ role: "user", parts: [{ text }] }] },
        key,
      );
  }
}

async function readConsumeRows(answer: Response): Promise<ConsumeRow[]> {
  await relay.gateway.settled();
  return consumeRows(relay.gateway, answer.headers.get("x-request-id") ?? "");
}

const BEGINNINGS = /"role":"assistant","content":""|"type":"(?:message_start|response\.created)"/g;

const cases = [
  ...Object.entries(UPSTREAMS).flatMap(([name, one]) => CLIENTS.map((client) => [client, name, one] as const)),
  ["responses", "responses", RESPONSES] as const,
];

describe.each(cases)(
  "a %s client before an upstream that speaks %s",
  (client, name, { type, named, opening, error, answer }) => {
    const model = `opens-${client}-${name}`;
    beforeAll(async () => {
      await relay.gateway.channel(model, { base_url: upstream.url, type, priority: 9 });
      await relay.gateway.channel(model, { base_url: upstream.url, type, priority: 1 });
    });

    // @weakness Money: A stream that opens and delivers nothing was charged the whole prompt, and no other channel was tried.
    it.each([
      ["an error", [error], undefined],
      ["a plain end", [], undefined],
      ["a cut", [], (to: { destroy(): void }) => to.destroy()],
    ])("an opening and %s cost nothing, and the next channel serves with one beginning", async (_what, last, end) => {
      const serves = streamed(buildEventBlocks(answer, named));
      upstream.answers(streamed(buildEventBlocks([...opening, ...last], named), end), serves);
      const answered = await ask(client, model);
      const text = await answered.text();
      expect(text).toContain("Served.");
      expect(text.match(BEGINNINGS)?.length ?? 0).toBeLessThanOrEqual(1);
      expect(upstream.calls).toBe(2);
      const rows = await readConsumeRows(answered);
      expect(rows.map((row) => [row.prompt_tokens, row.completion_tokens])).toEqual([[20, 5]]);
      expect(rows[0]?.other.admin_info.use_channel).toHaveLength(2);
    });

    it("an opening that nothing follows is free and an error for the client", async () => {
      upstream.answers(streamed(buildEventBlocks([...opening, error], named)));
      const answered = await ask(client, model);
      expect(answered.status).toBeGreaterThanOrEqual(400);
      await answered.text();
      expect(upstream.calls).toBe(3);
      expect(await readConsumeRows(answered)).toEqual([]);
    });

    it("content in one packet with an error behind it is delivered and charged like content in a packet of its own", async () => {
      const upToContent = buildEventBlocks(
        answer.slice(0, answer.findIndex((event) => JSON.stringify(event).includes("Served.")) + 1),
        named,
      );
      if (upToContent.join("").includes("finishReason")) return;
      const failing = buildEventBlocks([error], named);
      const outcomes = [];
      for (const blocks of [[...upToContent, ...failing], [[...upToContent, ...failing].join("")]]) {
        upstream.answers(streamed(blocks));
        const answered = await ask(client, model, "hi");
        const text = await answered.text().catch(() => "broken off");
        const rows = await readConsumeRows(answered);
        outcomes.push([upstream.calls, text.includes("Served."), rows.map((row) => row.completion_tokens)]);
      }
      expect(outcomes[0]?.slice(0, 1)).toEqual([1]);
      expect(outcomes[1]).toEqual(outcomes[0]);
    });
  },
);

it("a frame with a code and a sentence is an error, before and behind content", async () => {
  const model = "coded-frames";
  await relay.gateway.channel(model, { base_url: upstream.url, type: 1005 });
  const frame = { code: 10163, message: "the parameter is wrong", sid: "s" };
  upstream.answers(streamed(buildEventBlocks([frame])));
  const refused = await ask("chat", model, "hi");
  expect(await refused.text()).toContain("the parameter is wrong");
  upstream.answers(streamed(buildEventBlocks([chunk({ content: "Served." }), frame])));
  const text = await (await ask("chat", model, "hi")).text();
  expect(text).toMatch(/Served.*"error":\{"message":"the parameter is wrong/s);
  expect(text).not.toContain("10163,");
});

describe("keep-alive while nothing was said", () => {
  it("commits the head, and the channel that serves continues behind it", async () => {
    const model = "opens-slowly";
    await relay.gateway.channel(model, { base_url: upstream.url, type: 14, priority: 9 });
    await relay.gateway.channel(model, { base_url: upstream.url, type: 14, priority: 1 });
    const { opening, error, answer } = UPSTREAMS["messages"] as Upstream;
    upstream.answers(
      streamed(buildEventBlocks([...opening, error], true), undefined, { gapMs: 100 }),
      streamed(buildEventBlocks(answer, true)),
    );
    const answered = await ask("messages", model, "hi");
    const events = parseEvents(Buffer.from(await answered.text()));
    const names = events.flatMap(({ event }) => (event === undefined || event === "ping" ? [] : [event]));
    expect(names.filter((name) => name === "message_start")).toHaveLength(1);
    expect(names.at(-1)).toBe("message_stop");
  });
});

describe("an answer that ends regularly without content", () => {
  const buildUsage = (output: number) => ({ prompt_tokens: 40, completion_tokens: output, total_tokens: 40 + output });
  it.each([
    ["costs what its upstream reports", 1005, chunk({}, "length", { usage: buildUsage(12) }), [[40, 12]]],
    ["costs nothing where its upstream reports nothing", 1005, chunk({}, "stop"), [[0, 0]]],
    [
      "is free when a prompt was refused by a vendor that does not bill that",
      1005,
      chunk({}, "content_filter", { usage: buildUsage(0) }),
      [[0, 0]],
    ],
    [
      "is charged when the vendor bills refused prompts",
      3,
      chunk({}, "content_filter", { usage: buildUsage(0) }),
      [[40, 0]],
    ],
  ])("%s", async (what, type, last, expected) => {
    const model = `ends-${what.replaceAll(" ", "-").slice(0, 40)}`;
    await relay.gateway.channel(model, { base_url: upstream.url, type });
    upstream.answers(streamed(buildEventBlocks([chunk({ role: "assistant", content: "" }), last, "[DONE]"])));
    const answered = await relay.gateway.post("/v1/chat/completions", chat(model, { stream: true }), relay.key);
    expect(await answered.text()).toContain("finish_reason");
    expect(upstream.calls).toBe(1);
    expect((await readConsumeRows(answered)).map((row) => [row.prompt_tokens, row.completion_tokens])).toEqual(
      expected,
    );
  });
});
