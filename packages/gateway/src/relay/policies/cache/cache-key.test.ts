import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ratio } from "../../../billing/money/ratio.ts";
import { dialectById } from "../../../dialects/index.ts";
import type { Dialect, JsonObject } from "../../../dialects/core/types.ts";
import { CallProgress } from "../../request/call-progress.ts";
import type { RelayRequest } from "../../request/request.ts";
import { buildKeyText } from "./cache-key.ts";
import { resolveEligibility } from "./eligible.ts";

interface Facts {
  readonly userId: number;
  readonly group: string;
  readonly groups: readonly string[];
  readonly pinnedChannel: number | undefined;
  readonly operation: "chat" | "completions";
  readonly model: string;
  readonly stream: boolean;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly isPlayground: boolean;
  readonly version: string;
  readonly guardrail: string;
  readonly body: JsonObject;
}

const short = fc.string({ maxLength: 3 });
const facts: fc.Arbitrary<Facts> = fc.record({
  userId: fc.integer({ min: 1, max: 3 }),
  group: short,
  groups: fc.array(short, { maxLength: 2 }),
  pinnedChannel: fc.option(fc.integer({ min: 1, max: 2 }), { nil: undefined }),
  operation: fc.constantFrom("chat" as const, "completions" as const),
  model: short,
  stream: fc.boolean(),
  url: short,
  headers: fc.dictionary(fc.constantFrom("anthropic-beta", "openai-beta"), short),
  isPlayground: fc.boolean(),
  version: short,
  guardrail: short,
  body: fc.dictionary(fc.constantFrom("temperature", "seed", "input"), fc.oneof(short, fc.integer(), fc.boolean())),
});

function buildKey(of: Facts): string | undefined {
  const policy = { keepMs: 1, maxBytes: 1, ratio: ratio(0), concerns: () => true, version: of.version };
  return buildKeyText(createRequest(of), { policy, guardrail: of.guardrail, groups: of.groups });
}

function createRequest(of: Facts): RelayRequest {
  const bytes = Buffer.from(JSON.stringify(of.body));
  const dialect = dialectById(of.operation === "chat" ? "openai-chat" : "openai-completions") as Dialect;
  return {
    id: "r",
    spec: {
      operation: of.operation,
      dialect: dialect.id,
      model: of.model,
      stream: of.stream,
      wantsStreamUsage: false,
      outputCap: undefined,
      promptEstimate: 1,
      units: 1,
    },
    dialect,
    body: { bytes, json: () => of.body },
    contentType: "application/json",
    caller: {
      userId: of.userId,
      username: "u",
      role: 1,
      group: of.group,
      userGroup: "default",
      tokenId: 1,
      tokenName: "t",
      isUnlimited: true,
      modelLimits: undefined,
      pinnedChannel: of.pinnedChannel,
      ip: "127.0.0.1",
    },
    url: of.url,
    protocolHeaders: of.headers,
    startedAt: 0,
    autoGroup: undefined,
    isPlayground: of.isPlayground,
    progress: new CallProgress(),
  };
}

const BASE: Facts = {
  userId: 1,
  group: "default",
  groups: ["default"],
  pinnedChannel: undefined,
  operation: "chat",
  model: "m",
  stream: false,
  url: "/v1/chat/completions",
  headers: {},
  isPlayground: false,
  version: "",
  guardrail: "",
  body: { temperature: 0 },
};

describe("the key", () => {
  it.each<Partial<Facts>>([
    { userId: 2 },
    { group: "vip" },
    { groups: ["default", "vip"] },
    { pinnedChannel: 1 },
    { operation: "completions" },
    { model: "n" },
    { stream: true },
    { url: "/v1/chat/completions?x=1" },
    { headers: { "openai-beta": "x" } },
    { isPlayground: true },
    { version: "2" },
    { guardrail: "answers" },
    { body: { temperature: 0, seed: 1 } },
  ])("differs with %j", (change) => {
    expect(buildKey({ ...BASE, ...change })).not.toBe(buildKey(BASE));
  });

  it("is shared by equal requests only", () => {
    const sorted = (members: object) => Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1));
    const order = (of: Facts) => JSON.stringify({ ...of, headers: sorted(of.headers), body: sorted(of.body) });
    fc.assert(
      fc.property(facts, facts, fc.constantFrom(...(Object.keys(BASE) as (keyof Facts)[])), (one, two, name) => {
        expect(buildKey(one) === buildKey(two)).toBe(order(one) === order(two));
        const changed = { ...one, [name]: two[name] };
        expect(buildKey(one) === buildKey(changed)).toBe(order(one) === order(changed));
      }),
      { numRuns: 2000 },
    );
  });

  it("does not exist for a long body", () => {
    expect(buildKey({ ...BASE, body: { input: "x".repeat(200_000) } })).toBeDefined();
    expect(buildKey({ ...BASE, body: { input: "x".repeat(300_000) } })).toBeUndefined();
  });

  it("does not exist for bytes that are no text", () => {
    const request = createRequest(BASE);
    const bytes = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff]), Buffer.from('"}')]);
    const policy = { keepMs: 1, maxBytes: 1, ratio: ratio(0), concerns: () => true, version: "" };
    const context = { policy, guardrail: "", groups: [] };
    expect(buildKeyText({ ...request, body: { ...request.body, bytes } }, context)).toBeUndefined();
  });
});

describe("requests that may be answered from the cache", () => {
  const asked = (body: JsonObject, headers: Readonly<Record<string, string>> = {}, more: Partial<RelayRequest> = {}) =>
    resolveEligibility({ ...createRequest({ ...BASE, body }), ...more }, headers);
  const ON = { "x-fairway-cache": "on" };
  const plain = { type: "function", function: { name: "f" } };

  it.each<[string, JsonObject]>([
    ["temperature 0", { temperature: 0 }],
    ["one answer", { temperature: 0, n: 1 }],
    ["Gemini's temperature", { generationConfig: { temperature: 0 } }],
    ["nothing stored", { temperature: 0, store: false, tools: null }],
  ])("%s", (_name, body) => expect(asked(body)).toEqual({ mayRead: true }));

  it.each<[string, JsonObject]>([
    ["no temperature", {}],
    ["a temperature", { temperature: 0.1 }],
    ["a text", { temperature: "0" }],
    ["several answers", { temperature: 0, n: 2 }],
    ["several candidates", { generationConfig: { temperature: 0, candidateCount: 2 } }],
    ["the other dialect's place", { temperature: 0, generationConfig: {} }],
    ["tools", { temperature: 0, tools: [plain] }],
    ["functions", { temperature: 0, functions: [{ name: "f" }] }],
  ])("%s only when the client opts in", (_name, body) => {
    expect(asked(body)).toBeUndefined();
    expect(asked(body, ON)).toEqual({ mayRead: true });
  });

  it.each<[string, JsonObject]>([
    ["stored answers", { store: true }],
    ["conversations", { conversation: "c" }],
    ["follow-ups", { previous_response_id: "r" }],
    ["threads", { thread: {} }],
    ["stored prompts", { prompt: { id: "p" } }],
    ["containers", { container: "c" }],
    ["remote tools", { mcp_servers: [{}] }],
    ["searches", { web_search_options: {} }],
    ["hosted tools", { tools: [plain, { type: "web_search_20250305", name: "web_search" }] }],
    ["Gemini's hosted tools", { tools: [{ functionDeclarations: [] }, { googleSearch: {} }] }],
    ["tools in no list", { tools: {} }],
    ["tools that are none", { tools: ["x"] }],
  ])("never: %s", (_name, body) => expect(asked({ temperature: 0, ...body }, ON)).toBeUndefined());

  it.each<[string, JsonObject]>([
    ["chat", { tools: [plain, { type: "custom", custom: { name: "c" } }] }],
    ["messages", { tools: [{ name: "f", input_schema: {} }] }],
    ["Gemini", { tools: [{ functionDeclarations: [] }] }],
  ])("functions of the client in %s, when it opts in", (_name, body) => expect(asked(body, ON)).toBeDefined());

  it("follows the headers", () => {
    const cold = { temperature: 0 };
    expect(asked(cold, { "x-fairway-cache": "off" })).toBeUndefined();
    expect(asked(cold, { "cache-control": "max-age=0, No-Store" })).toBeUndefined();
    expect(asked({}, { ...ON, "cache-control": "no-store" })).toBeUndefined();
    expect(asked(cold, { "cache-control": "no-cache" })).toEqual({ mayRead: false });
  });

  it("depends on the operation and on what the upstream stores", () => {
    const of = (operation: RelayRequest["spec"]["operation"]) => ({ spec: { ...createRequest(BASE).spec, operation } });
    for (const operation of ["embeddings", "rerank", "moderations"] as const)
      expect(asked({}, {}, of(operation))).toEqual({ mayRead: true });
    for (const operation of ["images.generations", "audio.speech", "realtime"] as const)
      expect(asked({ temperature: 0 }, ON, of(operation))).toBeUndefined();
    expect(asked({ temperature: 0, prompt: "x" }, {}, of("completions"))).toBeDefined();
    expect(asked({ temperature: 0 }, ON, { storesAnswer: true })).toBeUndefined();
    expect(asked({ temperature: 0 }, ON, { pinnedAccount: { channelId: 1, keyIndex: 0 } })).toBeUndefined();
  });
});
