import { describe, expect, it } from "vitest";
import {
  createRequestSpec,
  createBridgeContext,
  createUpstreamCall,
  createChannelRecord,
  listEventData,
  event,
  requestTransformed,
} from "../../../test/kit/provider-kit.ts";
import { ai360 } from "./ai360/ai360.ts";
import { aws } from "./aws/aws.ts";
import { azure } from "./azure/azure.ts";
import { baidu } from "./baidu/baidu.ts";
import { setChannelHeaders } from "../core/channel-headers.ts";
import { failureIn200, readFailure } from "../core/errors/classify.ts";
import { cohereRequest } from "./cohere/chat-request.ts";
import { compatible } from "./compatible/compatible.ts";
import { custom } from "./custom/custom.ts";
import { deepseek } from "./deepseek/deepseek.ts";
import { fireworks } from "./fireworks/fireworks.ts";
import { gemini } from "./gemini/gemini.ts";
import { groq } from "./groq/groq.ts";
import { mistral } from "./mistral/mistral.ts";
import { openai } from "./openai/openai.ts";
import { volcengine } from "./volcengine/volcengine.ts";
import { xai } from "./xai/xai.ts";
import { zhipuV4 } from "./zhipu/zhipu.ts";
import type { ChannelRecord, HttpJson, ProviderAdapter } from "../core/types.ts";
import type { Operation } from "../../dialects/core/types.ts";

function buildPath(
  provider: ProviderAdapter,
  operation: Operation,
  model: string,
  parts: Partial<ChannelRecord> = {},
): string | undefined {
  const channel = createChannelRecord(parts);
  const spec = createRequestSpec({ operation, model });
  const route = provider.speaks.find(
    (candidate) => candidate.operation === operation && candidate.when?.(spec, model, channel) !== false,
  );
  return typeof route?.path === "function" ? route.path(spec, model, channel, "key") : route?.path;
}

describe("paths", () => {
  it("of Azure by surface", () => {
    expect(buildPath(azure, "chat", "gpt-4.1", { other: "2024-10-21" })).toBe(
      "/openai/deployments/gpt-4.1/chat/completions?api-version=2024-10-21",
    );
    const strip = { other: "2024-10-21", setting: { azure_strip_dots: true } };
    expect(buildPath(azure, "chat", "gpt-3.5-turbo", strip)).toBe(
      "/openai/deployments/gpt-35-turbo/chat/completions?api-version=2024-10-21",
    );
    expect(buildPath(azure, "responses", "m", { other: "2025-04-01-preview" })).toBe(
      "/openai/responses?api-version=2025-04-01-preview",
    );
    expect(buildPath(azure, "embeddings", "m", { other: "preview" })).toBe("/openai/v1/embeddings?api-version=preview");
    expect(buildPath(azure, "realtime", "m", { other: "2024-10-01-preview" })).toBe(
      "/openai/realtime?deployment=m&api-version=2024-10-01-preview",
    );
    expect(buildPath(azure, "realtime", "m", { other: "v1" })).toBe("/openai/v1/realtime?model=m");
  });

  it("of a custom channel, which is the whole URL", () => {
    const baseUrl = "https://h/{model}/{path}?v=2";
    expect(buildPath(custom, "chat", "a/b", { baseUrl: "https://h/chat" })).toBe("https://h/chat");
    expect(buildPath(custom, "embeddings", "a/b", { baseUrl })).toBe("https://h/a%2Fb/v1/embeddings?v=2");
    expect(buildPath(custom, "embeddings", "a/b", { baseUrl: "https://h/chat" })).toBeUndefined();
  });

  it("of a compatible server by its setting", () => {
    expect(buildPath(compatible, "chat", "m")).toBe("/v1/chat/completions");
    expect(buildPath(compatible, "chat", "m", { setting: { paths: { chat: "/llm/{model}/chat" } } })).toBe(
      "/llm/m/chat",
    );
    expect(buildPath(compatible, "responses", "m")).toBeUndefined();
    expect(buildPath(compatible, "responses", "m", { setting: { responses_mode: "always" } })).toBe("/v1/responses");
    expect(buildPath(compatible, "realtime", "a b")).toBe("/v1/realtime?model=a%20b");
  });

  it("of others", () => {
    expect(buildPath(volcengine, "chat", "bot-1")).toBe("/api/v3/bots/chat/completions");
    expect(buildPath(volcengine, "chat", "ep-1")).toBe("/api/v3/chat/completions");
    expect(buildPath(openai, "realtime", "gpt-realtime")).toBe("/v1/realtime?model=gpt-realtime");
    expect(buildPath(openai, "responses", "m", { setting: { responses_mode: "never" } })).toBeUndefined();
    expect(buildPath(gemini, "chat", "models/x", { other: "v1" })).toBe("/v1/models/x:generateContent");
    expect(buildPath(gemini, "chat", "a/b", { other: "v1" })).toBe("/v1/models/a%2Fb:generateContent");
  });

  it("of Gemini embeddings, which follow the body", async () => {
    const url = "https://h/v1beta/models/m:embedContent";
    const call = createUpstreamCall(url, { requests: [] });
    await gemini.authorize(call, createChannelRecord(), {
      key: "k",
      now: 0,
      http: () => Promise.reject(new Error("none")),
      clientHeaders: {},
    });
    expect([call.url.pathname, call.headers["x-goog-api-key"]]).toEqual(["/v1beta/models/m:batchEmbedContents", "k"]);
  });
});

describe("credentials", () => {
  it("of a compatible server may stand in any header", async () => {
    const call = createUpstreamCall("https://h/", {});
    const channel = createChannelRecord({ headers: new Map([["x-api-key", "{key}"]]) });
    await compatible.authorize(call, channel, {
      key: "k",
      now: 0,
      http: () => Promise.reject(new Error("none")),
      clientHeaders: {},
    });
    setChannelHeaders(call.headers, channel, "k");
    expect(call.headers).toEqual({ "content-type": "application/json", "x-api-key": "k", authorization: "Bearer k" });
  });

  it("of a local server may be missing", async () => {
    const call = createUpstreamCall("https://h/", {});
    await compatible.authorize(call, createChannelRecord(), {
      key: "",
      now: 0,
      http: () => Promise.reject(new Error("none")),
      clientHeaders: {},
    });
    expect(call.headers["authorization"]).toBeUndefined();
  });
});

describe("parameters", () => {
  it("of a compatible server by its setting", () => {
    const setting = { drop_params: ["seed"], max_tokens_field: "max_tokens", no_developer_role: true };
    const body = {
      model: "m",
      seed: 1,
      max_completion_tokens: 5,
      messages: [{ role: "developer", content: "a" }],
      unknown: 0,
    };
    expect(requestTransformed(compatible, body, { setting })).toEqual({
      model: "m",
      max_tokens: 5,
      messages: [{ role: "system", content: "a" }],
      unknown: 0,
    });
    expect(requestTransformed(compatible, body)).toBe(body);
  });

  it("of Mistral: ids of nine characters on both sides, names on results, a prefix at the end", () => {
    const id = "call_abcdefghijkl";
    const body = {
      model: "mistral-large-latest",
      messages: [
        { role: "assistant", content: null, tool_calls: [{ id, function: { name: "f", arguments: "{}" } }] },
        { role: "tool", tool_call_id: id, content: "1" },
        { role: "assistant", content: "The" },
      ],
      tool_choice: "required",
      seed: 7,
      temperature: 2,
      reasoning_effort: "low",
      user: "u",
      of_next_month: 1,
      safe_prompt: true,
    };
    const { messages, ...rest } = requestTransformed(mistral, body);
    const [call, result, last] = messages as {
      tool_calls?: { id: string }[];
      tool_call_id?: string;
      name?: string;
      prefix?: boolean;
    }[];
    expect(call?.tool_calls?.[0]?.id).toMatch(/^[A-Za-z0-9]{9}$/);
    expect([result?.tool_call_id, result?.name, last?.prefix]).toEqual([call?.tool_calls?.[0]?.id, "f", true]);
    expect(rest).toEqual({
      model: "mistral-large-latest",
      tool_choice: "any",
      random_seed: 7,
      temperature: 1.5,
      safe_prompt: true,
    });
  });

  it("of DeepSeek: history as the generation wants it", () => {
    const turn = { role: "assistant", content: "a", reasoning_content: "r" };
    const messages = [{ role: "user", content: "1" }, turn, { role: "user", content: "2" }];
    expect(requestTransformed(deepseek, { model: "deepseek-reasoner", messages })["messages"]).toEqual([
      messages[0],
      { role: "assistant", content: "a" },
      messages[2],
    ]);
    const bare = [{ role: "assistant", content: "a" }];
    expect(requestTransformed(deepseek, { model: "deepseek-v4-pro", messages: bare })["messages"]).toEqual([
      { role: "assistant", content: "a", reasoning_content: "" },
    ]);
    const plain = { model: "deepseek-chat", messages: [{ role: "user", content: "1" }] };
    expect(requestTransformed(deepseek, plain)).toBe(plain);
  });

  it.each([
    [xai, "grok-4.6", "xhigh", "xhigh"],
    [xai, "grok-4.5", "xhigh", "high"],
    [xai, "grok-4.20-0309-reasoning", "high", undefined],
    [xai, "grok-4", "low", undefined],
    [groq, "qwen/qwen3-32b", "high", "default"],
    [groq, "qwen/qwen3-32b", "none", "none"],
    [groq, "llama-3.3-70b-versatile", "high", undefined],
    [fireworks, "m", "minimal", "low"],
  ])("effort of %o %s %s", (provider, model, effort, expected) => {
    expect(requestTransformed(provider, { model, reasoning_effort: effort })["reasoning_effort"]).toBe(expected);
  });

  it("of 360: no stream_options, also where the client asked for usage", () => {
    const asked = { model: "m", stream: true, stream_options: { include_usage: true }, messages: [] };
    expect(requestTransformed(ai360, asked)).toEqual({ model: "m", stream: true, messages: [] });
  });

  it("of Groq: messages without names", () => {
    expect(requestTransformed(groq, { model: "m", messages: [{ role: "user", name: "bob", content: "hi" }] })).toEqual({
      model: "m",
      messages: [{ role: "user", content: "hi" }],
    });
  });

  it("of Baidu: names of the second form are in lower case", () => {
    expect(requestTransformed(baidu, { model: "ERNIE-4.0-8K" })).toEqual({ model: "ernie-4.0-8k" });
    const known = { model: "ernie-4.0-8k" };
    expect(requestTransformed(baidu, known)).toBe(known);
  });

  it("of Cohere: temperature up to 1, arguments that are JSON", () => {
    const calls = [{ id: "c", type: "function", function: { name: "f", arguments: "" } }];
    const body = { model: "m", temperature: 1.7, messages: [{ role: "assistant", content: "", tool_calls: calls }] };
    expect(cohereRequest(body, createBridgeContext())).toMatchObject({
      temperature: 1,
      messages: [{ tool_calls: [{ function: { arguments: "{}" } }] }],
    });
  });

  it("of xAI by suffix", () => {
    expect(requestTransformed(xai, { model: "grok-3-mini-beta-high" })).toEqual({
      model: "grok-3-mini-beta",
      reasoning_effort: "high",
    });
  });
});

describe("answers", () => {
  it("of Zhipu: pieces of calls get the number that they lack", () => {
    const call = { id: "c", type: "function", function: { name: "f", arguments: "{}" } };
    const chunk = { object: "chat.completion.chunk", choices: [{ index: 0, delta: { tool_calls: [call, call] } }] };
    const step = zhipuV4.responseTransforms?.[0]?.stream?.({} as never);
    const reported = step?.(event(chunk));
    expect(listEventData(reported === undefined || !("raw" in reported) ? [] : [reported])).toMatchObject([
      {
        choices: [
          {
            delta: {
              tool_calls: [
                { index: 0, id: "c" },
                { index: 1, id: "c" },
              ],
            },
          },
        ],
      },
    ]);
  });
});

describe("failures", () => {
  const answer = (json: unknown, status = 200) => ({ status, headers: {}, body: Buffer.from(JSON.stringify(json)) });

  it("of Zhipu: a connection that broke before the first word, and a clock that is wrong", () => {
    const broken = (message: object) => answer({ choices: [{ index: 0, finish_reason: "network_error", message }] });
    expect(failureIn200(zhipuV4, broken({ content: "" }))).toMatchObject({ class: "overloaded", retry: true });
    expect(failureIn200(zhipuV4, broken({ content: "half a" }))).toBeUndefined();
    const expired = readFailure(zhipuV4, answer({ error: { code: "1003", message: "expired" } }, 401));
    expect(expired).toMatchObject({ class: "bad_key", disable: false });
  });

  it("of Imagen: pictures that were all held back", () => {
    const held = { raiFilteredReason: "The prompt could not be submitted." };
    const read = (...predictions: object[]) => failureIn200(gemini, answer({ predictions }));
    expect(read(held)).toMatchObject({ class: "content_filter", status: 400, message: held.raiFilteredReason });
    expect(read(held, { bytesBase64Encoded: "QQ==" })).toBeUndefined();
  });

  it("of Mistral: a model that does not exist is looked for elsewhere", () => {
    const unknown = { object: "error", message: "Invalid model: x", type: "invalid_model", code: "1500" };
    expect(readFailure(mistral, answer(unknown, 400))).toMatchObject({ class: "not_found", retry: true });
  });
});

describe("model lists", () => {
  /** Answers in order and records the calls. */
  function answering(...answers: unknown[]): { http: HttpJson; asked: Parameters<HttpJson>[0][] } {
    const asked: Parameters<HttpJson>[0][] = [];
    const http: HttpJson = (call) => {
      const json = answers[asked.push(call) - 1];
      return Promise.resolve({ status: json === undefined ? 404 : 200, json, text: "" });
    };
    return { http, asked };
  }

  it("of Bedrock: models of the region and inference profiles, signed", async () => {
    const { http, asked } = answering(
      { modelSummaries: [{ modelId: "amazon.nova-pro-v1:0" }, { modelName: "nameless" }] },
      { inferenceProfileSummaries: [{ inferenceProfileId: "eu.anthropic.claude-sonnet-5" }] },
    );
    const found = await aws.listModels?.(createChannelRecord({ type: 33 }), "AK|SK|eu-west-1", http, 1_790_000_000_000);
    expect(found).toEqual(["amazon.nova-pro-v1:0", "eu.anthropic.claude-sonnet-5"]);
    expect(asked.map(({ url }) => url)).toEqual([
      "https://bedrock.eu-west-1.amazonaws.com/foundation-models",
      "https://bedrock.eu-west-1.amazonaws.com/inference-profiles?maxResults=1000",
    ]);
    expect(asked[0]?.headers["authorization"]).toMatch(/^AWS4-HMAC-SHA256 Credential=AK\/20260921\/eu-west-1\/bedrock/);
  });

  it("of Gemini: page by page, without what no route serves", async () => {
    const { http, asked } = answering(
      {
        models: [
          { name: "models/gemini-3.8-flash", supportedGenerationMethods: ["generateContent", "countTokens"] },
          { name: "models/gemini-3.8-live", supportedGenerationMethods: ["bidiGenerateContent"] },
        ],
        nextPageToken: "p2",
      },
      { models: [{ name: "models/gemini-embedding-001", supportedGenerationMethods: ["embedContent"] }] },
    );
    const found = await gemini.listModels?.(createChannelRecord({ type: 24 }), "AIza", http, 0);
    expect(found).toEqual(["gemini-3.8-flash", "gemini-embedding-001"]);
    expect(asked[1]?.url).toContain("pageToken=p2");
  });

  it("of a custom channel, where its URL says how others than chat are reached", async () => {
    const { http, asked } = answering({ data: [{ id: "m" }] });
    const baseUrl = "https://h/api/{path}";
    expect(await custom.listModels?.(createChannelRecord({ type: 8, baseUrl }), "k", http, 0)).toEqual(["m"]);
    expect(asked[0]?.url).toBe("https://h/api/v1/models");
    const chatOnly = createChannelRecord({ type: 8, baseUrl: "https://h/chat" });
    expect(() => custom.listModels?.(chatOnly, "k", http, 0)).toThrow("{path}");
  });
});
