// Small parts for tests of providers: a channel, a request, and an upstream that answers from a list.
import type { BridgeContext } from "../../src/dialects/core/bridge.ts";
import type { RequestSpec, JsonObject, StreamEvent } from "../../src/dialects/core/types.ts";
import type {
  ChannelRecord,
  ExchangeContext,
  ProviderAdapter,
  UpstreamAnswer,
  UpstreamCall,
} from "../../src/providers/core/types.ts";

export function createChannelRecord(parts: Partial<ChannelRecord> = {}): ChannelRecord {
  return {
    id: 1,
    type: 1,
    name: "channel",
    status: 1,
    keys: ["key"],
    keyMode: "random",
    baseUrl: "",
    other: "",
    organization: "",
    models: new Set(),
    groups: ["default"],
    modelMapping: new Map(),
    statusMapping: new Map(),
    priority: 0,
    weight: 0,
    autoBan: true,
    testModel: "",
    maxInputTokens: 0,
    costRatio: 1,
    tag: "",
    setting: {},
    paramOverride: undefined,
    headers: new Map(),
    ...parts,
  };
}

export function createRequestSpec(parts: Partial<RequestSpec> = {}): RequestSpec {
  return {
    operation: "chat",
    dialect: "openai-chat",
    model: "model",
    stream: false,
    wantsStreamUsage: false,
    outputCap: undefined,
    promptEstimate: 1,
    units: 1,
    ...parts,
  };
}

export interface KitContext extends BridgeContext {
  readonly lost: string[];
}

export function createBridgeContext(parts: Partial<BridgeContext> = {}): KitContext {
  const lost: string[] = [];
  const ask = parts.spec ?? createRequestSpec();
  return {
    spec: ask,
    upstreamModel: ask.model,
    requestId: "rid",
    now: 1_790_000_000_000,
    setting: {},
    dropped: (field) => void lost.push(field),
    ...parts,
    lost,
  };
}

export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly bytes?: Buffer;
}

export interface KitExchange {
  readonly context: ExchangeContext;
  readonly calls: UpstreamCall[];
  readonly slept: number[];
}

/**
 * An upstream that remembers what it was asked. It gives its replies in the order of the calls; calls that are made at
 * the same time come in any order, so a function chooses the reply by what they ask.
 */
export function createExchange(
  replies: readonly Reply[] | ((call: UpstreamCall) => Reply | undefined),
  parts: Partial<ExchangeContext> = {},
): KitExchange {
  const calls: UpstreamCall[] = [];
  const slept: number[] = [];
  const ask = parts.spec ?? createRequestSpec();
  const context: ExchangeContext = {
    key: "key",
    now: 1_790_000_000_000,
    http: () => Promise.reject(new Error("no JSON calls here")),
    clientHeaders: {},
    spec: ask,
    upstreamModel: ask.model,
    channel: createChannelRecord(),
    send(call) {
      const reply = typeof replies === "function" ? replies(call) : replies[calls.length];
      calls.push(call);
      return reply
        ? Promise.resolve(createAnswer(reply))
        : Promise.reject(new Error(`unexpected call of ${call.url.href}`));
    },
    connect: () => Promise.reject(new Error("no sockets here")),
    download: () => Promise.reject(new Error("no files here")),
    sleep(ms) {
      slept.push(ms);
      return Promise.resolve();
    },
    signal: new AbortController().signal,
    ...parts,
  };
  return { context, calls, slept };
}

function createAnswer({ status = 200, headers, json, bytes }: Reply): UpstreamAnswer {
  const body = bytes ?? Buffer.from(JSON.stringify(json));
  return { status, headers: headers ?? { "content-type": "application/json" }, body: parts(body) };
}

async function* parts(body: Buffer): AsyncGenerator<Buffer> {
  yield await Promise.resolve(body);
}

export function createUpstreamCall(url: string, body: unknown, headers: Record<string, string> = {}): UpstreamCall {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
  return {
    method: "POST",
    url: new URL(url),
    headers: { "content-type": "application/json", ...headers },
    body: bytes,
  };
}

export async function readJson(answer: UpstreamAnswer): Promise<JsonObject> {
  const received: Buffer[] = [];
  for await (const part of answer.body) received.push(part);
  return JSON.parse(Buffer.concat(received).toString("utf8")) as JsonObject;
}

/** Applies a provider's request transforms to a body, in the chat dialect unless another is named. */
export function requestTransformed(
  provider: ProviderAdapter,
  body: JsonObject,
  parts: Partial<ChannelRecord> = {},
): JsonObject {
  const channel = createChannelRecord({ type: provider.type, ...parts });
  const model = typeof body["model"] === "string" ? body["model"] : "";
  return (provider.requestTransforms ?? [])
    .filter((requestTransform) => (requestTransform.on ?? ["openai-chat"]).includes("openai-chat"))
    .reduce(
      (json, requestTransform) => requestTransform.apply(json, createRequestSpec({ model }), model, channel),
      body,
    );
}

export function event(data: JsonObject, name?: string): StreamEvent {
  return { event: name, data, raw: JSON.stringify(data) };
}

/** The data of events as a client would read it; text that is no JSON unchanged. */
export function listEventData(events: readonly StreamEvent[]): unknown[] {
  return events.map(({ data, raw }) => data ?? raw);
}
