// Exchanges in the form of the vectors, written as values: a client's request, what the upstream must see, its answer.
import type { JsonObject, JsonValue } from "../../src/dialects/core/types.ts";
import { readVector } from "../vectors/load.ts";
import { runVector } from "../vectors/run.ts";

export const CLOCK = 1_733_000_000;
export const HI: JsonValue = [{ role: "user", content: "Hi" }];

export interface ExchangeParts {
  readonly type: number;
  readonly channel: JsonObject;
  /** Body of the client's request. */
  readonly ask: JsonObject;
  /** Path of the client's request; chat completions by default. */
  readonly path?: string;
  /** Exchanges before the last one, such as one for a token. */
  readonly before?: readonly JsonObject[];
  readonly upstream: JsonObject;
  readonly answer: JsonObject;
  readonly client?: JsonObject;
  readonly verdict?: readonly [name: string, action: "disable" | "retry" | "none"];
  readonly usage?: JsonObject;
}

export function runExchange(parts: ExchangeParts): Promise<void> {
  const { type, channel, ask, path = "/v1/chat/completions", before = [], upstream, answer, client } = parts;
  const json: JsonObject = {
    channel_type: type,
    channel: { other: "", ...channel },
    clock: CLOCK,
    prelude: [...before],
    client_request: { method: "POST", path, headers: {}, body: ask },
    upstream_request: upstream,
    upstream_response: answer,
    ...(client && { client_response: client }),
    ...(parts.verdict && { error_class: parts.verdict[0], channel_action: parts.verdict[1] }),
    ...(parts.usage && { usage: parts.usage }),
  };
  return runVector(readVector("exchange", json));
}

/** The request that the upstream must receive. */
export function sent(url: string, body: JsonValue, headers: JsonObject = {}, method = "POST"): JsonObject {
  return { method, url, headers, body };
}

export function json(body: JsonValue, status = 200, type = "application/json"): JsonObject {
  return { status, headers: { "content-type": type }, body };
}

/** Blocks as they arrive; objects become the data of unnamed events. */
export function events(...blocks: readonly (string | JsonObject)[]): JsonObject {
  const sse = blocks.map((block) => (typeof block === "string" ? block : `data: ${JSON.stringify(block)}`));
  return { status: 200, headers: { "content-type": "text/event-stream" }, sse };
}

export function refused(status: number, error: JsonObject): JsonObject {
  return { status, body: { error } };
}

export interface ChunkParts {
  readonly id: string;
  readonly model: string;
  readonly created?: JsonValue;
}

/** Chunks of one stream as the client sees them. */
export function createChunks({ id, model, created = "<now>" }: ChunkParts) {
  const head = { id, object: "chat.completion.chunk", created, model };
  return {
    delta: (delta: JsonObject, finish: string | null = null): JsonObject => ({
      ...head,
      choices: [{ index: 0, delta, finish_reason: finish }],
    }),
    usage: (input: number, output: number): JsonObject => ({
      ...head,
      choices: [],
      usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
    }),
  };
}
