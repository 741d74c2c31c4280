import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { dialectById } from "../../dialects/index.ts";
import { NO_USAGE, type Dialect } from "../../dialects/core/types.ts";
import type { ResponseDecoder } from "../../providers/core/response-decoder.ts";
import { BytesSink } from "./bytes-sink.ts";
import { Delivery, DeliveryTicker } from "./delivery.ts";
import type { SinkContext, Sink } from "./sink.ts";
import type { AttemptResult } from "../upstream/attempt-result.ts";
import { StreamSink } from "./stream-sink.ts";

const dialect = dialectById("openai-chat") as Dialect;
const ticker = new DeliveryTicker({ heartbeatMs: 0, stuckMs: 60_000 });
const counter = { count: () => Promise.resolve([1]), stop: () => Promise.resolve() };
const plain: ResponseDecoder = {
  dialect: "openai-chat",
  conversions: [],
  refusal: () => undefined,
  answer: (body) => body,
  feed: (chunk) => chunk,
  rest: () => undefined,
};
const said = {
  id: "c",
  object: "chat.completion.chunk",
  created: 1,
  model: "m",
  choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: "stop" }],
};
const event = (value: unknown) => Buffer.from(`data: ${JSON.stringify(value)}\n\n`);
const done = Buffer.from("data: [DONE]\n\n");

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** An answer whose charge fails in a way that no ledger should; a second charge finds it closed. */
function createContext(delivery: Delivery, faults: unknown[], finish: (result: AttemptResult) => void): SinkContext {
  const request = { id: "req-1", spec: { model: "m", stream: true, wantsStreamUsage: false }, body: {} };
  let asked = 0;
  const controller = { abort: () => undefined, pause: () => undefined, resume: () => undefined };
  return {
    request,
    target: { plan: { provider: {}, route: {} } },
    delivery,
    dialect,
    controller,
    settle() {
      asked += 1;
      return asked === 1 ? Promise.reject(new Error("no charge")) : Promise.resolve(NO_USAGE);
    },
    progress: () => undefined,
    fallsBack: () => false,
    outputRoom: Infinity,
    fault: (error: unknown) => void faults.push(error),
    finish,
    failureOf: () => undefined,
    refused: () => undefined,
  } as unknown as SinkContext;
}

async function run(make: (context: SinkContext) => Sink, drive: (sink: Sink) => void) {
  const faults: unknown[] = [];
  const ended = Promise.withResolvers<AttemptResult>();
  const server = createServer((_request, response) => {
    const sink = make(createContext(new Delivery(response, ticker), faults, ended.resolve));
    drive(sink);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`).catch(() => undefined);
  const text = await response?.text().catch(() => "broken off");
  return { text: text ?? "broken off", faults: faults.map(String), result: await ended.promise };
}

const streamed = (context: SinkContext) =>
  new StreamSink(context, { decoder: plain, upstream: dialect, translation: undefined }, counter);
const result = { kind: "delivered", reason: "internal_error" };

describe("an answer whose charge fails", () => {
  it.each([
    ["at its regular end", (sink: Sink) => sink.data(done)],
    ["when the upstream breaks off", (sink: Sink) => sink.fail(new Error("reset"))],
    ["when the process stops it", (sink: Sink) => sink.end()],
  ])("ends a stream with an error event of its protocol, %s", async (_when, end) => {
    const {
      text,
      faults,
      result: ended,
    } = await run(streamed, (sink) => {
      sink.data(event({ ...said, choices: [{ ...said.choices[0], finish_reason: null }] }));
      end(sink);
    });
    expect(text).toContain("Hi");
    expect(text).not.toContain("[DONE]");
    expect(text).toContain("internal_error");
    expect([ended, faults[0]]).toEqual([result, "Error: no charge"]);
  });

  it("breaks off sound", async () => {
    const head = { "content-type": "audio/mpeg" };
    const {
      text,
      faults,
      result: ended,
    } = await run(
      (context) => new BytesSink(context, head),
      (sink) => {
        for (const part of ["a", "b"]) sink.data(Buffer.from(part));
        sink.end();
      },
    );
    expect(text).toBe("broken off");
    expect([ended, faults]).toEqual([result, ["Error: no charge"]]);
  });
});

it.each([
  ["is not read again where the reservation does not grow", false],
  ["is read where it may", true],
])("the text of a stream %s", async (_what, asks) => {
  let read = 0;
  const upstream: Dialect = {
    ...dialect,
    eventTexts(data) {
      read += 1;
      return dialect.eventTexts(data);
    },
  };
  const words = event({ ...said, choices: [{ index: 0, delta: { content: "word ".repeat(200) } }] });
  const watching = (context: SinkContext): Sink => {
    const progress = (bound: () => number) => void (asks && bound());
    return new StreamSink({ ...context, progress }, { decoder: plain, upstream, translation: undefined }, counter);
  };
  await run(watching, (sink) => {
    for (let sent = 0; sent < 12; sent += 1) sink.data(words);
    setImmediate(() => {
      sink.data(event(said));
      sink.data(done);
    });
  });
  expect(read > 0).toBe(asks);
});

it("an answer without a finish reason that has output is whole, and is not counted for that", async () => {
  const counting = { count: () => Promise.reject(new Error("no one asked")), stop: () => Promise.resolve() };
  const watching = (context: SinkContext): Sink =>
    new StreamSink(
      { ...context, settle: () => Promise.resolve(NO_USAGE) },
      { decoder: plain, upstream: dialect, translation: undefined },
      counting,
    );
  const { text, faults } = await run(watching, (sink) => {
    sink.data(event({ ...said, choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: null }] }));
    sink.data(done);
  });
  expect([text.includes("[DONE]"), faults]).toEqual([true, []]);
});
