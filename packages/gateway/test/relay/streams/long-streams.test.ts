// A converter's memory does not grow with its stream: a hundred thousand chunks, measured while the stream runs.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { findBridges } from "../../../src/dialects/find-bridges.ts";
import type { BridgeContext } from "../../../src/dialects/core/bridge.ts";
import type { DialectId, JsonObject } from "../../../src/dialects/core/types.ts";
import { encodeBlock } from "../../../src/lib/text/sse.ts";
import { beginConversions, createStreamTranslation } from "../../../src/relay/conversion/translate.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

const SETTLED = 5_000;
const CHUNKS = 100_000;
const MAX_BYTES = 64 * 1024;
const WORD = " word";

const beginnings: Readonly<Record<string, JsonObject[]>> = {
  "openai-chat": [{ id: "c", model: "m", choices: [{ index: 0, delta: { role: "assistant", content: "" } }] }],
  "anthropic-messages": [
    { type: "message_start", message: { id: "msg_1", model: "m" } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  ],
  "gemini-generate": [{ responseId: "r", modelVersion: "m", candidates: [] }],
  "openai-responses": [{ type: "response.created", response: { id: "resp_1", model: "m" } }],
};

/** Parsed each time, as the pieces of a stream are. */
const pieces: Readonly<Record<string, (at: number) => JsonObject>> = {
  "openai-chat": (at) => ({ id: "c", model: "m", choices: [{ index: 0, delta: { content: WORD + at } }] }),
  "anthropic-messages": (at) => ({
    type: "content_block_delta",
    index: 0,
    delta: { type: "text_delta", text: WORD + at },
  }),
  "gemini-generate": (at) => ({ candidates: [{ index: 0, content: { role: "model", parts: [{ text: WORD + at }] } }] }),
  "openai-responses": (at) => ({ type: "response.output_text.delta", output_index: 0, delta: WORD + at }),
};

function liveBytes(): number {
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

function measureGrowth(client: DialectId, upstream: DialectId): { grown: number; written: number } {
  const context: BridgeContext = {
    spec: {
      operation: "chat",
      dialect: client,
      model: "asked",
      stream: true,
      wantsStreamUsage: true,
      outputCap: undefined,
      promptEstimate: 30,
      units: 1,
    },
    upstreamModel: "m",
    requestId: "01R",
    now: 0,
    setting: {},
    dropped: () => {},
  };
  const translation = createStreamTranslation(beginConversions(findBridges(client, upstream) ?? [], context), upstream);
  const send = (event: JsonObject) => translation.blocks(Buffer.from(encodeBlock(JSON.stringify(event))));
  for (const event of beginnings[upstream] ?? []) send(event);
  const piece = pieces[upstream] ?? (() => ({}));
  for (let at = 0; at < SETTLED; at++) send(piece(at));
  const before = liveBytes();
  let written = 0;
  for (let at = SETTLED; at < CHUNKS; at++) {
    send(piece(at));
    written += WORD.length + String(at).length;
  }
  const grown = liveBytes() - before;
  expect(send(piece(0)).length).toBeGreaterThan(0);
  return { grown, written };
}

const MAX_RUNS = 3;

/**
 * Returns the growth beyond the text that `holdsText` allows. What compilers hold after a first run does not recur in
 * the next one; what a stream holds appears in all of them.
 */
function measureLeastGrowth(client: DialectId, upstream: DialectId, holdsText = false): number {
  let least = Infinity;
  for (let run = 0; run < MAX_RUNS && least >= MAX_BYTES; run++) {
    const { grown, written } = measureGrowth(client, upstream);
    least = Math.min(least, holdsText ? grown - written : grown);
  }
  return least;
}

it.each<[DialectId, DialectId]>([
  ["anthropic-messages", "openai-chat"],
  ["gemini-generate", "openai-chat"],
  ["openai-chat", "anthropic-messages"],
  ["openai-chat", "openai-responses"],
  ["anthropic-messages", "openai-responses"],
  ["gemini-generate", "anthropic-messages"],
])("%s clients of %s upstreams: nothing grows", (client, upstream) => {
  expect(measureLeastGrowth(client, upstream)).toBeLessThan(MAX_BYTES);
});

it.each<[DialectId, DialectId]>([
  ["openai-responses", "openai-chat"],
  ["openai-responses", "anthropic-messages"],
  // Sources point into the whole text and come at the end.
  ["openai-chat", "gemini-generate"],
])("%s clients of %s upstreams: the text that the end needs, and nothing else", (client, upstream) => {
  expect(measureLeastGrowth(client, upstream, true)).toBeLessThan(MAX_BYTES);
});
