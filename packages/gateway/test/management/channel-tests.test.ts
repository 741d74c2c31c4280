// The channel test of every type that can be tested, against an upstream that answers as the type's vectors say.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocketServer } from "ws";
import { object, objects, text } from "../../src/dialects/core/read.ts";
import type { JsonObject } from "../../src/dialects/core/types.ts";
import { allProviders } from "../../src/providers/registry.ts";
import type { ProviderAdapter } from "../../src/providers/core/types.ts";
import { probeChannel } from "../../src/relay/pipeline/probe.ts";
import { createUpstreams } from "../../src/relay/upstream/upstream.ts";
import { isTestable } from "../../src/resources/channels/upstream.ts";
import { loadVectors, type Vector } from "../vectors/load.ts";
import { createChannelRecord } from "../vectors/run-relay.ts";
import { readHeaders } from "../vectors/script.ts";

const upstreams = createUpstreams({ connectTimeoutMs: 2_000, keepAliveMs: 1_000 });
let server: Server;
let url = "";
/** Steps that are still to be answered. */
let steps: JsonObject[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume().on("end", () => {
      const step = steps.length > 1 ? steps.shift() : steps[0];
      const { body = "" } = step ?? {};
      const bytes = typeof body === "string" ? body : JSON.stringify(body);
      response.writeHead(Number(step?.["status"] ?? 500), readHeaders(step ?? {})).end(bytes);
    });
  });
  const sockets = new WebSocketServer({ server });
  sockets.on("connection", (socket) => {
    socket.on("message", () => {
      const frames = objects(steps[0], "ws").filter((frame) => frame["dir"] === "recv");
      for (const frame of frames) socket.send(JSON.stringify(frame["json"]));
      socket.close();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.close().closeAllConnections();
  await upstreams.close();
});

const PATHS = ["/v1/chat/completions", "/v1/embeddings", "/v1/rerank"];

/** A plain answer of this type, of a chat where there is one. */
function findVector({ type }: ProviderAdapter): Vector | undefined {
  const plain = loadVectors().filter(
    ({ kind, type: other, answer, client, steps: all }) =>
      other === type &&
      kind === "relay" &&
      answer?.["status"] === 200 &&
      PATHS.includes(text(client, "path") ?? "") &&
      object(client, "body")?.["stream"] !== true &&
      all.every(({ response }) => response["sse"] === undefined && response["body_base64"] === undefined),
  );
  return plain.toSorted((one, other) => rank(one) - rank(other))[0];
}

function rank({ client }: Vector): number {
  return PATHS.indexOf(text(client, "path") ?? "");
}

/** Types that speak the protocol of another one and have no vector of their own. */
const OPENAI: JsonObject = {
  status: 200,
  headers: { "content-type": "application/json" },
  body: {
    id: "c",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    data: [{ object: "embedding", index: 0, embedding: [1] }],
  },
};

function setUp(provider: ProviderAdapter) {
  const vector = findVector(provider) ?? findVector({ ...provider, type: 1 });
  if (!vector) throw new Error(`no vector for ${provider.id}`);
  const isOwn = vector.type === provider.type;
  steps = isOwn ? vector.steps.map(({ response }) => response) : [OPENAI];
  const model = isOwn ? text(object(vector.client, "body"), "model") : provider.models[0];
  const recorded = createChannelRecord(vector);
  const key = isOwn ? (recorded.keys[0] ?? "") : "key";
  return {
    model: model ?? "some-model",
    channel: {
      ...recorded,
      type: provider.type,
      baseUrl: url,
      keys: [key.replace(/"token_uri":"[^"]*"/, `"token_uri":"${url}/token"`)],
    },
  };
}

describe("the channel test", () => {
  const tested = allProviders.filter((provider) => isTestable(provider, provider.type));
  it.each(tested.map((provider) => [provider.id, provider] as const))("of %s", async (_id, provider) => {
    const { channel, model } = setUp(provider);
    const result = await probeChannel(channel, model, "request", {
      upstreams,
      http: upstreams.json,
      now: () => 1_790_000_000_000,
      outputLimit: () => undefined,
      userAgent: "fairway",
      publicUrl: () => "https://ai.example.com",
      files: { read: () => Promise.reject(new Error("no files here")) },
    });
    expect({ id: provider.id, message: result.message }).toEqual({ id: provider.id, message: "" });
    expect(result.isOk).toBe(true);
  });
});
