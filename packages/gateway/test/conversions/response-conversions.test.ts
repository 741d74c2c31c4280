import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findBridges } from "../../src/dialects/find-bridges.ts";
import type { BridgeContext } from "../../src/dialects/core/bridge.ts";
import type { RequestSpec, JsonObject } from "../../src/dialects/core/types.ts";
import { createBlockFramer, encodeBlock, parseEvents, splitBlocks } from "../../src/lib/text/sse.ts";
import { beginConversions, createStreamTranslation, translateAnswer } from "../../src/relay/conversion/translate.ts";
import { dialect, PROTOCOLS, read, write, type ChatLike, type Meaning } from "./response-meaning.ts";

const pairs = PROTOCOLS.flatMap((client) => PROTOCOLS.map((upstream) => [client, upstream] as const)).filter(
  ([client, upstream]) => client !== upstream,
);

function requireBridges(client: ChatLike, upstream: ChatLike) {
  const found = findBridges(client, upstream);
  if (found === undefined) throw new Error(`no way from ${client} to ${upstream}`);
  return found;
}

function contextFor(client: ChatLike): BridgeContext {
  const spec: RequestSpec = {
    operation: client === "openai-responses" ? "responses" : "chat",
    dialect: client,
    model: "m",
    stream: true,
    wantsStreamUsage: true,
    outputCap: undefined,
    promptEstimate: 3,
    units: 1,
  };
  return { spec, upstreamModel: "m", requestId: "01R", now: 1_790_000_000_000, setting: {}, dropped: () => undefined };
}

const word = fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 });
const call = fc.record({
  name: fc.constantFrom("get_weather", "now", "search"),
  args: fc.dictionary(
    fc.string({ minLength: 1, maxLength: 5 }).filter((key) => !/^(?:__|fw_)/.test(key)),
    fc.oneof(word, fc.integer(), fc.boolean()),
  ),
});
const meaning: fc.Arbitrary<Meaning> = fc
  .record({
    thinking: fc.oneof(fc.constant(""), word),
    text: fc.oneof(fc.constant(""), word),
    calls: fc.array(call, { maxLength: 3 }),
    finish: fc.constantFrom("stop" as const, "length" as const, "content_filter" as const),
    cached: fc.nat(50),
    fresh: fc.integer({ min: 1, max: 1000 }),
    output: fc.nat(1000),
  })
  .map(({ fresh, ...rest }) => ({
    ...rest,
    input: fresh + rest.cached,
    finish: rest.finish === "stop" && rest.calls.length > 0 ? ("tool_calls" as const) : rest.finish,
    calls: rest.finish === "stop" ? rest.calls : [],
  }));

/** The client's stream for an upstream's stream that arrives in these chunks. */
function translate(client: ChatLike, upstream: ChatLike, chunks: readonly Buffer[]): Buffer {
  const translation = createStreamTranslation(
    beginConversions(requireBridges(client, upstream), contextFor(client)),
    upstream,
  );
  const framer = createBlockFramer({ maxBytes: 1 << 24 });
  const parts = chunks.flatMap((chunk) => {
    const blocks = framer.feed(chunk);
    return blocks === undefined ? [] : [translation.blocks(blocks)];
  });
  return Buffer.concat([...parts, translation.end()]);
}

/** Requires that an invalid shape is either read or refused with a clear error. */
function readOrRefused(read: () => unknown): void {
  try {
    read();
  } catch (error) {
    expect(String(error)).toMatch(
      /^Error: (an event of the stream cannot be read|the answer has no choice|the response has not come to its end)$/,
    );
  }
}

function parseData(stream: Buffer): JsonObject[] {
  return parseEvents(stream).flatMap(({ data }) => (data === undefined ? [] : [data]));
}

describe.each(pairs)("%s clients on %s upstreams", (client, upstream) => {
  it("keep the content of a whole answer", () => {
    fc.assert(
      fc.property(meaning, (said) => {
        const answer = translateAnswer(
          beginConversions(requireBridges(client, upstream), contextFor(client)),
          write(upstream, said),
        );
        expect(read(client, answer)).toEqual(said);
        expect(JSON.stringify(answer)).not.toContain('"fw_');
      }),
      { numRuns: 60 },
    );
  });

  it("keep the content of a stream, however it is split", () => {
    fc.assert(
      fc.property(meaning, fc.integer({ min: 1, max: 40 }), (said, size) => {
        const stream = dialect(upstream).toStream(write(upstream, said), contextFor(upstream).spec);
        const pieces = Array.from({ length: Math.ceil(stream.length / size) }, (_, at) =>
          stream.subarray(at * size, (at + 1) * size),
        );
        const whole = translate(client, upstream, [stream]);
        expect(parseData(translate(client, upstream, pieces)).length).toBe(parseData(whole).length);
        const answer = dialect(client).assembleAnswer(parseData(whole));
        expect(answer && read(client, answer)).toEqual(said);
        expect(whole.toString()).not.toContain('"fw_');
        const meter = dialect(client).meter();
        meter.feed(whole);
        expect(meter.finished).toBe(true);
        expect(meter.usage).toMatchObject({ input: said.input, output: said.output, cachedInput: said.cached });
      }),
      { numRuns: 40 },
    );
  });

  it("never make a cut stream look complete", () => {
    const said: Meaning = {
      thinking: "hm",
      text: "hello",
      calls: [{ name: "now", args: { a: 1 } }],
      finish: "tool_calls",
      input: 9,
      output: 4,
      cached: 2,
    };
    const events = splitBlocks(dialect(upstream).toStream(write(upstream, said), contextFor(upstream).spec));
    for (let count = 0; count <= events.length; count++) {
      const translation = createStreamTranslation(
        beginConversions(requireBridges(client, upstream), contextFor(client)),
        upstream,
      );
      const upstreamMeter = dialect(upstream).meter();
      const clientMeter = dialect(client).meter();
      for (const block of events.slice(0, count)) {
        upstreamMeter.feed(block);
        const out = translation.blocks(block);
        if (out.length > 0) clientMeter.feed(out);
      }
      if (!upstreamMeter.finished) expect(clientMeter.finished, `after ${count} events`).toBe(false);
    }
  });

  it("survive answers and events of any shape", () => {
    const bridges = requireBridges(client, upstream);
    const value = fc.jsonValue({ maxDepth: 4 });
    const key = fc.constantFrom(
      "choices",
      "delta",
      "message",
      "content",
      "usage",
      "candidates",
      "parts",
      "output",
      "item",
      "type",
      "response",
      "index",
    );
    const odd = fc.dictionary(fc.oneof(key, fc.string({ maxLength: 4 })), value, { maxKeys: 6 });
    fc.assert(
      fc.property(fc.array(odd, { maxLength: 6 }), (shapes) => {
        const stream = createStreamTranslation(beginConversions(bridges, contextFor(client)), upstream);
        for (const shape of shapes) {
          readOrRefused(() => translateAnswer(beginConversions(bridges, contextFor(client)), shape as JsonObject));
          readOrRefused(() => stream.blocks(Buffer.from(encodeBlock(JSON.stringify(shape)))));
        }
        stream.end();
      }),
      { numRuns: 150 },
    );
  });
});
