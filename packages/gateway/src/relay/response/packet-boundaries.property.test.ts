// The delivery, cost and consequences of a stream must not depend on which of its bytes share a read of the socket.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import { propertyRuns } from "@fairway/testkit/property-runs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createBridgeContext, createChannelRecord } from "../../../test/kit/provider-kit.ts";
import { findBridges } from "../../dialects/find-bridges.ts";
import { dialectById } from "../../dialects/index.ts";
import { NO_USAGE, type Dialect, type DialectId } from "../../dialects/core/types.ts";
import { AppError } from "../../lib/app-error.ts";
import { encodeBlock, parseEvents } from "../../lib/text/sse.ts";
import { beginConversions } from "../conversion/translate.ts";
import { createSink } from "./create-sink.ts";
import { Delivery, DeliveryTicker, STREAM_HEADERS } from "./delivery.ts";
import type { Completion, Sink, SinkContext } from "./sink.ts";
import type { AttemptResult } from "../upstream/attempt-result.ts";

const ticker = new DeliveryTicker({ heartbeatMs: 0, stuckMs: 60_000 });
const counter = { count: () => Promise.resolve([1]), stop: () => Promise.resolve() };

const chunk = (delta: object, finish: string | null = null) => ({
  id: "c",
  object: "chat.completion.chunk",
  created: 1,
  model: "m",
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const piece = (text: string, more: object = {}) => ({
  candidates: [{ content: { role: "model", parts: [{ text }] }, index: 0, ...more }],
});
const usage = { input_tokens: 4, output_tokens: 2, total_tokens: 6 };
const response = { id: "resp", object: "response", created_at: 1, model: "m", output: [] };
const message = { id: "m", type: "message", role: "assistant", content: [], model: "m" };
const textDelta = (delta: string) => ({
  type: "response.output_text.delta",
  item_id: "i",
  output_index: 0,
  content_index: 0,
  delta,
});

/** The events from which streams of each protocol are drawn: opening, content, failure, end. */
const EVENTS: Readonly<Record<string, readonly (object | string)[]>> = {
  "openai-chat": [
    chunk({ role: "assistant", content: "" }),
    chunk({ content: "" }),
    chunk({ content: "Wörter" }),
    chunk({ reasoning_content: "hm" }),
    chunk({ tool_calls: [{ index: 0, id: "t", type: "function", function: { name: "f", arguments: "{}" } }] }),
    chunk({}, "stop"),
    { id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [], usage: { prompt_tokens: 4 } },
    { error: { message: "broken", type: "server_error" } },
    { choices: "none" },
    "[DONE]",
  ],
  "anthropic-messages": [
    { type: "message_start", message: { ...message, usage: { input_tokens: 4, output_tokens: 0 } } },
    { type: "ping" },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Wörter" } },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } },
    { type: "message_stop" },
    { type: "error", error: { type: "overloaded_error", message: "busy" } },
    { type: "content_block_delta", index: 0 },
  ],
  "openai-responses": [
    { type: "response.created", response },
    { type: "response.in_progress", response },
    textDelta(""),
    textDelta("Wörter"),
    { type: "response.completed", response: { ...response, status: "completed", usage } },
    { type: "response.failed", response: { ...response, status: "failed", error: null } },
    { type: "error", code: "server_error", message: "broken" },
    { type: "response.output_text.delta" },
  ],
  "gemini-generate": [
    piece(""),
    piece("Wörter"),
    piece("", { finishReason: "STOP" }),
    { usageMetadata: { promptTokenCount: 4, candidatesTokenCount: 2, totalTokenCount: 6 } },
    { error: { code: 503, message: "busy", status: "UNAVAILABLE" } },
    { candidates: "none" },
  ],
};
const CLIENTS: readonly DialectId[] = ["openai-chat", "anthropic-messages", "openai-responses", "gemini-generate"];
const PAIRS = CLIENTS.flatMap((client) =>
  Object.keys(EVENTS).map((upstream) => [client, upstream as DialectId] as const),
).filter(([client, upstream]) => findBridges(client, upstream) !== undefined);

let drive: (make: (delivery: Delivery) => void) => Promise<string>;
const server = createServer((request, answer) => pending.shift()?.(new Delivery(answer, ticker)));
const pending: ((delivery: Delivery) => void)[] = [];
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  drive = async (make) => {
    pending.push(make);
    const answer = await fetch(url);
    return answer.text().catch(() => "broken off");
  };
});
afterAll(() => server.close());

interface Outcome {
  readonly result: AttemptResult["kind"];
  readonly said: string;
  readonly charged: readonly unknown[];
}

/** Feeds `packets` to the sink that the relay makes for such an answer. */
async function runPackets(client: DialectId, upstream: DialectId, packets: readonly Buffer[]): Promise<Outcome> {
  const dialect = dialectById(client) as Dialect;
  const bridges = findBridges(client, upstream) ?? [];
  const charged: unknown[] = [];
  const ended = Promise.withResolvers<AttemptResult>();
  const text = await drive((delivery) => {
    delivery.streamHead = STREAM_HEADERS;
    let isAborted = false;
    const spec = { operation: "chat", dialect: client, model: "m", stream: true, wantsStreamUsage: true, units: 1 };
    const context = {
      request: { id: "r", spec, body: { bytes: Buffer.from("{}"), json: () => ({}) } },
      target: {
        channel: createChannelRecord(),
        plan: { provider: {}, bridges, route: { operation: "chat", dialect: upstream } },
      },
      delivery,
      dialect,
      controller: { abort: () => (isAborted = true), pause: () => undefined, resume: () => undefined },
      startedAt: 0,
      async settle(completion: Completion) {
        charged.push([completion.reason, completion.nothing, completion.usage, await completion.countOutput()]);
        return completion.usage ?? NO_USAGE;
      },
      progress: () => undefined,
      fallsBack: () => false,
      outputRoom: Infinity,
      fault: (error: unknown) => ended.reject(error as Error),
      finish: ended.resolve,
      refused: () => ({ error: new AppError("upstream_stream_interrupted") }),
    } as unknown as SinkContext;
    const bridging = createBridgeContext({ spec: { ...spec, outputCap: undefined, promptEstimate: 1 } as never });
    const conversions = beginConversions(bridges, bridging);
    const head = { status: 200, headers: { "content-type": "text/event-stream" }, context: bridging, conversions };
    const sink = createSink(context, head, counter) as Sink;
    void (async () => {
      for (const packet of packets) {
        if (isAborted) break;
        sink.data(packet);
        await new Promise((resolve) => setImmediate(resolve));
      }
      if (!isAborted) sink.end();
      const result = await ended.promise;
      if (result.kind === "failed") delivery.end();
    })();
  });
  const result = await ended.promise;
  const said = parseEvents(Buffer.from(text)).flatMap(({ data }) => (data ? [dialect.eventTexts(data).text] : []));
  return { result: result.kind, said: said.join(""), charged };
}

const LAST = /^"\[DONE\]|"(?:message_stop|response\.completed)"/;
/** Events that only a conversion cannot read. */
const UNREADABLE =
  /"choices":"none"|"candidates":"none"|"content_block_delta","index":0}|"response.output_text.delta"}/;

/** Nothing follows the last event of a protocol, nor an event that a conversion cannot read. */
function upToLast(stream: readonly (object | string)[], isConverted: boolean): readonly (object | string)[] {
  const last = stream.findIndex((event) => {
    const text = JSON.stringify(event);
    return LAST.test(text) || (isConverted && UNREADABLE.test(text));
  });
  return last < 0 ? stream : stream.slice(0, last + 1);
}

/** Cuts the bytes at these fractions of their length. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const at = [...new Set(places.map((place) => Math.floor(place * bytes.length)))].toSorted((a, b) => a - b);
  return [...at, bytes.length]
    .map((end, index) => bytes.subarray(at[index - 1] ?? 0, end))
    .filter(({ length }) => length > 0);
}

describe.each(PAIRS)("%s before %s", (client, upstream) => {
  it("is the same for every cut of the stream", async () => {
    const events = EVENTS[upstream] ?? [];
    const drawn = fc.array(fc.constantFrom(...events), { minLength: 1, maxLength: 7 });
    const places = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 8 });
    const property = fc.asyncProperty(drawn, places, async (stream, at) => {
      const blocks = upToLast(stream, client !== upstream).map((event) =>
        Buffer.from(typeof event === "string" ? `data: ${event}\n\n` : encodeBlock(JSON.stringify(event))),
      );
      const oneByOne = await runPackets(client, upstream, blocks);
      expect(await runPackets(client, upstream, cut(Buffer.concat(blocks), at))).toEqual(oneByOne);
    });
    await fc.assert(property, { numRuns: propertyRuns(300) });
  });
});
