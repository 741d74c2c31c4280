import { describe, expect, it } from "vitest";
import {
  createRequestSpec,
  createBridgeContext,
  createUpstreamCall,
  createExchange,
  readJson,
} from "../../../../test/kit/provider-kit.ts";
import { embedBridge as aliBridge, embedExchange as aliExchange } from "../../vendors/ali/native.ts";
import { aws } from "../../vendors/aws/aws.ts";
import { baidu, baiduV2 } from "../../vendors/baidu/baidu.ts";
import { cohere } from "../../vendors/cohere/cohere.ts";
import { gemini } from "../../vendors/gemini/gemini.ts";
import { vertex } from "../../vendors/vertex/vertex.ts";
import type { ProviderAdapter, UpstreamCall } from "../types.ts";
import { batchedEmbeddings } from "./batched-embeddings.ts";

const texts = (count: number) => Array.from({ length: count }, (_, index) => `t${index}`);
const spec = createRequestSpec({ operation: "embeddings", dialect: "openai-embeddings", model: "m" });

function exchangeFor(provider: ProviderAdapter) {
  const exchange = provider.speaks.find((route) => route.operation === "embeddings")?.exchange;
  if (!exchange) throw new Error(`no exchange of ${provider.id}`);
  return exchange;
}

function requireBridge(provider: ProviderAdapter, dialect: string) {
  const bridge = provider.bridges?.find((candidate) => candidate.upstream === dialect);
  if (!bridge) throw new Error(`no bridge to ${dialect}`);
  return { exchange: exchangeFor(provider), bridge };
}

describe("embeddings in several calls", () => {
  it("splits lists, keeps their order and adds the counts up", async () => {
    const replies = [0, 1].map((part) => ({
      json: { data: [{ index: 0, embedding: [part] }], usage: { prompt_tokens: 2, total_tokens: 2 } },
    }));
    const { context, calls } = createExchange(replies, { spec });
    const answer = await batchedEmbeddings(() => 1)(
      createUpstreamCall("https://h/e", { model: "m", input: ["a", "b"] }),
      context,
    );
    expect(calls.map((call) => JSON.parse(call.body?.toString() ?? "") as unknown)).toEqual([
      { model: "m", input: "a" },
      { model: "m", input: "b" },
    ]);
    expect(await readJson(answer)).toEqual({
      data: [
        { index: 0, embedding: [0] },
        { index: 1, embedding: [1] },
      ],
      usage: { prompt_tokens: 4, total_tokens: 4 },
    });
  });

  it("puts the vectors of one answer in the order of their texts", async () => {
    const data = [
      { index: 1, embedding: [1] },
      { index: 0, embedding: [0] },
    ];
    const { context } = createExchange([{ json: { data } }, { json: { data: [{ index: 0, embedding: [2] }] } }], {
      spec,
    });
    const call = createUpstreamCall("https://h/e", { input: ["a", "b", "c"] });
    const answer = await readJson(await batchedEmbeddings(() => 2)(call, context));
    expect(answer["data"]).toEqual([0, 1, 2].map((at) => ({ index: at, embedding: [at] })));

    const ofAli = (...entries: number[][]) => ({
      json: { output: { embeddings: entries.map(([at, value]) => ({ text_index: at, embedding: [value] })) } },
    });
    const replies = [ofAli([1, 1], [0, 0]), ofAli([0, 2])];
    const ali = createExchange(replies, { spec, upstreamModel: "text-embedding-v3" });
    const asked = createUpstreamCall("https://h/e", { input: { texts: texts(11) } });
    expect(await readJson(await aliExchange(asked, ali.context))).toMatchObject({
      output: { embeddings: [{ embedding: [0] }, { embedding: [1] }, { embedding: [2] }] },
    });
  });

  it("asks Gemini for 100 texts at most", async () => {
    const exchange = exchangeFor(gemini);
    const reply = (count: number) => ({
      json: { embeddings: texts(count).map(() => ({ values: [count] })), usageMetadata: { promptTokenCount: count } },
    });
    const { context, calls } = createExchange([reply(100), reply(1)], { spec });
    const requests = texts(101).map((text) => ({ model: "models/m", content: { parts: [{ text }] } }));
    const made = await exchange(
      createUpstreamCall("https://h/v1beta/models/m:batchEmbedContents", { requests }),
      context,
    );
    expect(calls.map((call) => (JSON.parse(call.body?.toString() ?? "") as { requests: object[] }).requests)).toEqual([
      requests.slice(0, 100),
      requests.slice(100),
    ]);
    const answer = await readJson(made);
    expect(answer["usageMetadata"]).toEqual({ promptTokenCount: 101 });
    expect((answer["embeddings"] as object[]).at(-1)).toEqual({ values: [1] });
  });

  it("asks the newer API of Baidu for 16 texts at most", async () => {
    const { context, calls } = createExchange([{ json: { data: [] } }, { json: { data: [] } }], { spec });
    await exchangeFor(baiduV2)(
      createUpstreamCall("https://h/v2/embeddings", { model: "m", input: texts(17) }),
      context,
    );
    expect(calls).toHaveLength(2);
  });

  it("asks tao-8k of Baidu once for every text", async () => {
    const replies = [0, 1].map((value) => ({ json: { data: [{ index: 0, embedding: [value] }] } }));
    const { context, calls } = createExchange(replies, { spec, upstreamModel: "tao-8k" });
    const answer = await exchangeFor(baidu)(createUpstreamCall("https://h/tao_8k", { input: texts(2) }), context);
    expect(calls.map((call) => call.body?.toString())).toEqual(['{"input":["t0"]}', '{"input":["t1"]}']);
    expect(await readJson(answer)).toMatchObject({ data: [{ embedding: [0] }, { embedding: [1] }] });
  });

  it("sends the first Titan its text alone", () => {
    const { bridge } = requireBridge(aws, "private:aws-embed");
    const context = createBridgeContext({ spec, upstreamModel: "amazon.titan-embed-text-v1" });
    expect(bridge.begin(context).request({ input: "a", dimensions: 2 })).toEqual({ inputText: "a" });
    expect(context.lost).toEqual(["dimensions"]);
  });

  it("answers with the first failure", async () => {
    const { context } = createExchange(
      [{ json: { data: [] } }, { status: 429, json: { error: { message: "slow" } } }],
      {
        spec,
      },
    );
    const answer = await batchedEmbeddings(() => 1)(createUpstreamCall("https://h/e", { input: ["a", "b"] }), context);
    expect([answer.status, await readJson(answer)]).toEqual([429, { error: { message: "slow" } }]);
  });

  it("sends short lists and token lists as they are", async () => {
    const { context, calls } = createExchange([{ json: {} }], { spec });
    const call = createUpstreamCall("https://h/e", { input: [1, 2, 3] });
    await batchedEmbeddings(() => 1)(call, context);
    expect(calls[0]).toBe(call);
  });

  it("splits for DashScope by generation", async () => {
    const context = createBridgeContext({ spec, upstreamModel: "text-embedding-v3" });
    const body = aliBridge.begin(context).request({ input: texts(11) });
    const reply = (count: number) => ({
      json: {
        output: { embeddings: texts(count).map((_, index) => ({ text_index: index, embedding: [index] })) },
        usage: { total_tokens: count },
      },
    });
    const { context: exchange } = createExchange([reply(10), reply(1)], { spec, upstreamModel: "text-embedding-v3" });
    const answer = aliBridge
      .begin(context)
      .response(await readJson(await aliExchange(createUpstreamCall("https://h/e", body), exchange)));
    expect(answer["usage"]).toEqual({ prompt_tokens: 11, total_tokens: 11 });
    expect((answer["data"] as { embedding: number[] }[]).map(({ embedding }) => embedding[0])).toEqual([
      ...texts(10).keys(),
      0,
    ]);
  });

  it("asks Titan once for every text, each call signed", async () => {
    const { exchange, bridge } = requireBridge(aws, "private:aws-embed");
    const context = createBridgeContext({ spec, upstreamModel: "amazon.titan-embed-text-v2:0" });
    const body = bridge.begin(context).request({ input: ["a", "b"], dimensions: 2 });
    const reply = (call: UpstreamCall) => ({
      json: { embedding: [call.body?.includes('"inputText":"a"') ? 1 : 2], inputTextTokenCount: 3 },
    });
    const { context: exchangeContext, calls } = createExchange(reply, { spec, key: "AK|SK|us-east-1" });
    const answer = await exchange(createUpstreamCall("https://h/model/m/invoke", body), exchangeContext);
    expect(new Set(calls.map((call) => call.body?.toString()))).toEqual(
      new Set([
        '{"inputText":"a","dimensions":2,"normalize":true}',
        '{"inputText":"b","dimensions":2,"normalize":true}',
      ]),
    );
    expect(new Set(calls.map((call) => call.headers["authorization"])).size).toBe(2);
    expect(bridge.begin(context).response(await readJson(answer))).toMatchObject({
      data: [{ embedding: [1] }, { embedding: [2] }],
      usage: { prompt_tokens: 6 },
    });
  });

  it("asks Cohere for 96 texts at most and Gemini on Vertex for one", async () => {
    const cohereParts = requireBridge(cohere, "private:cohere-embed");
    const context = createBridgeContext({ spec });
    const body = cohereParts.bridge.begin(context).request({ input: texts(97) });
    const replies = [96, 1].map((count) => ({
      json: { embeddings: { float: texts(count).map(() => [0]) }, meta: { billed_units: { input_tokens: count } } },
    }));
    const asked = createExchange(replies, { spec });
    const answer = await cohereParts.exchange(createUpstreamCall("https://h/e", body), asked.context);
    expect(cohereParts.bridge.begin(context).response(await readJson(answer))["usage"]).toEqual({
      prompt_tokens: 97,
      total_tokens: 97,
    });

    const vertexParts = requireBridge(vertex, "private:vertex-embed");
    const prediction = { json: { predictions: [{ embeddings: { values: [1], statistics: { token_count: 2 } } }] } };
    const single = createExchange([prediction, prediction], { spec, upstreamModel: "gemini-embedding-001" });
    const request = vertexParts.bridge.begin(context).request({ input: ["a", "b"] });
    const made = await vertexParts.exchange(createUpstreamCall("https://h/e", request), single.context);
    expect(vertexParts.bridge.begin(context).response(await readJson(made))).toMatchObject({
      usage: { prompt_tokens: 4 },
    });
  });

  it("refuses token lists where only text can be sent", () => {
    const { bridge } = requireBridge(cohere, "private:cohere-embed");
    expect(() => bridge.begin(createBridgeContext({ spec })).request({ input: [1, 2] })).toThrow(
      "input cannot be used",
    );
  });
});
