import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dialectById } from "../../../src/dialects/index.ts";
import type { DialectId, JsonObject, JsonValue, Operation } from "../../../src/dialects/core/types.ts";
import { AppError } from "../../../src/lib/app-error.ts";
import { allProviders } from "../../../src/providers/registry.ts";
import type { ProviderAdapter } from "../../../src/providers/core/types.ts";
import { jsonBody } from "../../../src/relay/body/read-body.ts";
import { buildCall, type BuiltCall, type CallDeps } from "../../../src/relay/conversion/build-call.ts";
import { planFor } from "../../../src/relay/selection/plan.ts";
import { CallProgress } from "../../../src/relay/request/call-progress.ts";
import type { RelayRequest } from "../../../src/relay/request/request.ts";
import { createChannelRecord } from "../../kit/provider-kit.ts";

const DEPS = {
  now: () => 1_790_000_000_000,
  userAgent: "fairway",
  publicUrl: () => "https://gateway.example.com",
  http: () => Promise.reject(new Error("no call")),
  outputLimit: () => undefined,
  files: { read: () => Promise.reject(new Error("no file")) },
} as unknown as CallDeps;

interface Asked {
  readonly operation: Operation;
  readonly dialect: DialectId;
  readonly body: JsonObject;
  readonly model: string;
  readonly override?: JsonObject | undefined;
  /** Some vendors use another protocol for keys of another form. */
  readonly key?: string;
}

/**
 * Returns the request as it would be sent, without its address and signature; undefined if the provider cannot serve
 * it.
 */
async function built(provider: ProviderAdapter, { operation, dialect, body, model, override, key = "key" }: Asked) {
  const client = dialectById(dialect);
  if (!client) throw new Error(dialect);
  const received = jsonBody(Buffer.from(JSON.stringify({ ...body, model })));
  const spec = client.inspect(received, operation, model);
  const channel = createChannelRecord({
    type: provider.type,
    keys: [key],
    baseUrl: "http://upstream.test",
    paramOverride: override,
  });
  const plan = planFor(channel, spec, model, received);
  if (!plan) return undefined;
  const unsigned = { ...plan, provider: { ...plan.provider, authorize() {} }, route: { ...plan.route, path: "/call" } };
  const request = {
    id: "rid",
    spec,
    dialect: client,
    body: received,
    contentType: "application/json",
    url: "/call",
    protocolHeaders: {},
    progress: new CallProgress(),
  } as unknown as RelayRequest;
  const target = { channel, group: "default", plan: unsigned, upstreamModel: model, keyIndex: 0 };
  return { ...(await buildCall(request, target, DEPS)), upstream: plan.route.dialect };
}

/** Returns the numbers anywhere in a value. */
function numbersIn(value: JsonValue | undefined): number[] {
  if (typeof value === "number") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(numbersIn);
}

/** Members of other protocols, which servers of the chat protocol do not read. */
const FOREIGN = ["max_output_tokens", "options", "additional_model_request_fields"];

/** Protocols that read `max_tokens`, which an operator may set for any channel. */
const OLDER_NAME: ReadonlySet<DialectId> = new Set(["openai-chat", "anthropic-messages", "private:cohere-chat"]);

function sentNumbers({ call }: BuiltCall, upstream: DialectId): number[] {
  const json = JSON.parse(call.body?.toString("utf8") ?? "{}") as JsonObject;
  const foreign = upstream === "openai-chat" ? FOREIGN : ["max_completion_tokens"];
  for (const name of foreign) delete json[name];
  if (!OLDER_NAME.has(upstream)) delete json["max_tokens"];
  return numbersIn(json);
}

/** Undefined if the request is refused as invalid: nothing is sent then. */
async function sent(provider: ProviderAdapter, asked: Asked) {
  try {
    return await built(provider, asked);
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

const MESSAGES = [{ role: "user", content: "hi" }];
/** Numbers that have no other meaning in a request. */
const cap = fc.constantFrom(1, 17, 7_001, 7_013, 7_019);
const some = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
/** Places where clients and operators were seen to set caps. */
const caps = fc.record({
  max_tokens: some(cap),
  max_completion_tokens: some(cap),
  max_output_tokens: some(cap),
  options: some(fc.record({ num_predict: cap })),
  additional_model_request_fields: some(
    fc.oneof(fc.record({ max_tokens: cap }), fc.record({ max_gen_len: cap }), fc.record({ maxTokens: cap })),
  ),
});
const keys = fc.constantFrom("key", "1|two|three");
const overrides = some(fc.record({ max_tokens: some(cap), max_completion_tokens: some(cap) }));

function compact(from: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(from).filter(([, value]) => value !== undefined)) as JsonObject;
}

// @weakness Money: What is reserved, sent and charged are read from different members of a request
describe("the limits of the request that is sent", () => {
  const chatting = allProviders.filter(({ speaks }) => speaks.some(({ operation }) => operation === "chat"));

  it.each(chatting.map((provider) => [provider.type, provider] as const))(
    "of channel type %i cover every cap in it",
    async (_type, provider) => {
      const models = fc.constantFrom("model", ...provider.models.slice(0, 20));
      await fc.assert(
        fc.asyncProperty(caps, overrides, models, keys, async (members, override, model, key) => {
          const body = { messages: MESSAGES, ...compact(members as JsonObject) };
          const asked = { operation: "chat", dialect: "openai-chat", body, model, key } as const;
          const call = await sent(provider, { ...asked, override: override && compact(override as JsonObject) });
          if (!call) return;
          const found = sentNumbers(call, call.upstream).filter((number) => number > 7_000 && number < 7_020);
          for (const number of found) expect(call.requested.cap).toBeGreaterThanOrEqual(number);
        }),
        { numRuns: 60 },
      );
    },
  );

  it.each([
    ["max_tokens", "max_completion_tokens"],
    ["max_completion_tokens", "max_tokens"],
  ])("refuse %s and %s that differ, naming both", async (one, other) => {
    const [openai] = chatting;
    const body = { messages: MESSAGES, [one]: 1, [other]: 6_000 };
    const asked = { operation: "chat", dialect: "openai-chat", body, model: "gpt-4o" } as const;
    await expect(built(openai as ProviderAdapter, asked)).rejects.toMatchObject({
      code: "invalid_request",
      message: "max_completion_tokens and max_tokens name different values for one limit; send one of them.",
    });
  });

  it.each([
    [43, "deepseek-chat", {}, 100],
    [4, "llama3", {}, 100],
    [23, "hunyuan-lite", {}, undefined],
    [37, "app", {}, undefined],
    [16, "chatglm_turbo", {}, undefined],
    [33, "amazon.nova-pro-v1:0", {}, 100],
    [14, "claude-3-5-sonnet", {}, 100],
    [24, "gemini-2.0-flash", {}, 100],
    [27, "sonar", {}, 100],
    [1, "gpt-4o", { max_tokens: 700 }, 700],
    [14, "claude-3-5-sonnet", { max_tokens: 700 }, 700],
  ])("of channel type %i and model %s with %j are %s", async (type, model, override, expected) => {
    const provider = allProviders.find((one) => one.type === type) as ProviderAdapter;
    const body = { messages: MESSAGES, max_tokens: 100 };
    const call = await built(provider, {
      operation: "chat",
      dialect: "openai-chat",
      body,
      model,
      override,
      key: "1|two|three",
    });
    expect(call?.requested.cap).toBe(expected);
  });
});

describe("the number of pictures in the request that is sent", () => {
  const drawing = allProviders.filter(({ speaks }) => speaks.some((route) => route.operation === "images.generations"));
  const count = fc.constantFrom(1, 3, 11, 13);
  const counts = fc.record({
    n: some(count),
    batch_size: some(count),
    max_images: some(count),
    sequential_image_generation: some(fc.constantFrom("auto", "disabled")),
    sequential_image_generation_options: some(fc.record({ max_images: count })),
  });

  it.each(drawing.map((provider) => [provider.type, provider] as const))(
    "of channel type %i covers every number in it that the vendor reads",
    async (type, provider) => {
      const read = type === 45 ? ["max_images", "n"] : type === 40 ? ["batch_size", "n"] : ["n", "numberOfImages"];
      await fc.assert(
        fc.asyncProperty(counts, fc.constantFrom("model", ...provider.models), async (members, model) => {
          const body = { prompt: "a boat", ...compact(members as JsonObject) };
          const call = await sent(provider, {
            operation: "images.generations",
            dialect: "openai-images",
            body,
            model,
          });
          if (!call) return;
          const json = JSON.parse(call.call.body?.toString("utf8") ?? "{}") as JsonObject;
          const found = listMembers(json).flatMap(([name, value]) => (read.includes(name) ? numbersIn(value) : []));
          for (const number of found) expect(call.requested.images).toBeGreaterThanOrEqual(number);
        }),
        { numRuns: 60 },
      );
    },
  );

  it("of a series without a length is the longest", async () => {
    const volcengine = allProviders.find(({ type }) => type === 45) as ProviderAdapter;
    const body = { prompt: "a boat", sequential_image_generation: "auto" };
    const asked = { operation: "images.generations", dialect: "openai-images", body, model: "seedream" } as const;
    expect((await built(volcengine, asked))?.requested.images).toBe(15);
  });

  it("is refused where two members differ", async () => {
    const siliconcloud = allProviders.find(({ type }) => type === 40) as ProviderAdapter;
    const body = { prompt: "a boat", n: 1, batch_size: 4 };
    const asked = { operation: "images.generations", dialect: "openai-images", body, model: "flux" } as const;
    await expect(built(siliconcloud, asked)).rejects.toMatchObject({ code: "invalid_request", param: "batch_size" });
  });
});

function listMembers(value: JsonValue | undefined): [string, JsonValue | undefined][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [
    [name, typeof inner === "number" ? inner : undefined] as [string, JsonValue | undefined],
    ...listMembers(inner as JsonValue),
  ]);
}
