import { describe, it } from "vitest";
import { createChunks, events, HI, json, refused, runExchange, sent } from "./exchange-kit.ts";

describe("roles", () => {
  const bases: readonly (readonly [number, string, string])[] = [
    [15, "bce-v3/k", "https://qianfan.baidubce.com/v2/chat/completions"],
    [17, "k", "https://dashscope.aliyuncs.com/compatible-mode/v1/chat/completions"],
    [18, "k", "https://spark-api-open.xf-yun.com/v1/chat/completions"],
    [19, "k", "https://api.360.cn/v1/chat/completions"],
    [23, "k", "https://api.hunyuan.cloud.tencent.com/v1/chat/completions"],
    [25, "k", "https://api.moonshot.cn/v1/chat/completions"],
    [26, "k", "https://open.bigmodel.cn/api/paas/v4/chat/completions"],
    [31, "k", "https://api.lingyiwanwu.com/v1/chat/completions"],
    [35, "k", "https://api.minimax.chat/v1/text/chatcompletion_v2"],
    [40, "k", "https://api.siliconflow.cn/v1/chat/completions"],
    [45, "k", "https://ark.cn-beijing.volces.com/api/v3/chat/completions"],
  ];

  it.each(bases)("that vendors of type %d refuse are called system", (type, key, url) =>
    runExchange({
      type,
      channel: { base_url: "", key },
      ask: { model: "m", messages: [{ role: "developer", content: "Be brief." }] },
      upstream: sent(url, { model: "m", messages: [{ role: "system", content: "Be brief." }] }),
      answer: json({ id: "1", choices: [] }),
    }),
  );
});

describe("Spark over HTTP", () => {
  const channel = { base_url: "", key: "password" };
  const ask = { model: "generalv3.5", messages: HI };
  const url = "https://spark-api-open.xf-yun.com/v1/chat/completions";
  const usage = { prompt_tokens: 6, completion_tokens: 2, total_tokens: 8 };

  it("gets the members that answers lack", () =>
    runExchange({
      type: 18,
      channel,
      ask,
      upstream: sent(url, ask),
      answer: json({
        code: 0,
        message: "Success",
        sid: "s",
        choices: [{ message: { role: "assistant", content: "Yo" }, index: 0 }],
        usage,
      }),
      client: {
        status: 200,
        body: {
          id: "s",
          object: "chat.completion",
          created: "<now>",
          model: "generalv3.5",
          choices: [{ message: { role: "assistant", content: "Yo" }, index: 0, finish_reason: "stop" }],
          usage,
        },
      },
    }));

  it("gets the final event that streams lack", () => {
    const streamed = { ...ask, stream: true };
    const piece = (content: string, more: object = {}) => {
      const choices = [{ delta: { role: "assistant", content }, index: 0 }];
      return `data:${JSON.stringify({ code: 0, message: "Success", sid: "s", id: "s", created: 7, choices, ...more })}`;
    };
    const seen = createChunks({ id: "s", model: "generalv3.5", created: 7 });
    return runExchange({
      type: 18,
      channel,
      ask: streamed,
      upstream: sent(url, { ...streamed, stream_options: { include_usage: true } }),
      answer: events(piece("Y"), piece("o", { usage }), "data:[DONE]"),
      client: {
        status: 200,
        sse: [
          seen.delta({ role: "assistant", content: "Y" }),
          seen.delta({ role: "assistant", content: "o" }, "stop"),
          "[DONE]",
        ],
      },
      usage: { prompt_tokens: 6, completion_tokens: 2 },
    });
  });
});

it("GLM reads its limit under the older name", () => {
  const body = { model: "glm-4.6", messages: HI };
  return runExchange({
    type: 26,
    channel: { base_url: "", key: "k" },
    ask: { ...body, max_completion_tokens: 5 },
    upstream: sent("https://open.bigmodel.cn/api/paas/v4/chat/completions", { ...body, max_tokens: 5 }),
    answer: json({ id: "1", choices: [] }),
  });
});

it("DashScope ranks texts and reports cached tokens", async () => {
  const channel = { base_url: "", key: "k" };
  await runExchange({
    type: 17,
    channel,
    ask: { model: "gte-rerank-v2", query: "q", documents: [{ text: "a" }, "b", { image: "i" }] },
    path: "/v1/rerank",
    upstream: sent("https://dashscope.aliyuncs.com/api/v1/services/rerank/text-rerank/text-rerank", {
      model: "gte-rerank-v2",
      input: { query: "q", documents: ["a", "b", { image: "i" }] },
      parameters: {},
    }),
    answer: json({ output: { results: [] }, usage: { total_tokens: 3 } }),
  });
  await runExchange({
    type: 17,
    channel,
    ask: { model: "qwen-turbo", messages: HI },
    upstream: sent("https://dashscope.aliyuncs.com/api/v1/services/aigc/text-generation/generation", {
      model: "qwen-turbo",
      input: { messages: HI },
      parameters: { result_format: "message" },
    }),
    answer: json({
      output: { choices: [{ finish_reason: "stop", message: { role: "assistant", content: "Yo" } }] },
      usage: { input_tokens: 9, output_tokens: 4, prompt_tokens_details: { cached_tokens: 5 } },
    }),
    usage: { prompt_tokens: 9, cached_tokens: 5 },
  });
});

describe("embeddings in several calls", () => {
  const texts = (count: number) => Array.from({ length: count }, (_, index) => `t${index}`);
  const splitInput = (input: readonly string[], limit: number) => [input.slice(0, limit), input.slice(limit)];

  it("are signed one by one for Tencent", () => {
    const input = texts(51);
    const [first = [], second = []] = splitInput(input, 50);
    const url = "https://hunyuan.tencentcloudapi.com/";
    const answer = (count: number) =>
      json({
        Response: {
          Data: texts(count).map((_, Index) => ({ Embedding: [Index], Index })),
          Usage: { PromptTokens: count, TotalTokens: count },
        },
      });
    return runExchange({
      type: 23,
      channel: { base_url: "", key: "1|id|secret" },
      ask: { model: "hunyuan-embedding", input },
      path: "/v1/embeddings",
      before: [{ upstream_request: sent(url, { InputList: first }), upstream_response: answer(50) }],
      upstream: sent(url, { InputList: second }, { "X-TC-Action": "GetEmbedding" }),
      answer: answer(1),
      client: {
        status: 200,
        body: {
          object: "list",
          model: "hunyuan-embedding",
          data: [...first.map((_, index) => index), 0].map((value, index) => ({
            object: "embedding",
            index,
            embedding: [value],
          })),
          usage: { prompt_tokens: 51, total_tokens: 51 },
        },
      },
    });
  });

  it("fail as a whole where one fails with status 200", () => {
    const input = texts(17);
    const [first = [], second = []] = splitInput(input, 16);
    const host = "https://aip.baidubce.com";
    const url = `${host}/rpc/2.0/ai_custom/v1/wenxinworkshop/embeddings/embedding-v1?access_token=T`;
    const exchange = sent(
      `${host}/oauth/2.0/token?grant_type=client_credentials&client_id=embed&client_secret=s`,
      null,
    );
    return runExchange({
      type: 15,
      channel: { base_url: "", key: "embed|s" },
      ask: { model: "Embedding-V1", input },
      path: "/v1/embeddings",
      before: [
        { upstream_request: exchange, upstream_response: json({ access_token: "T", expires_in: 2_592_000 }) },
        { upstream_request: sent(url, { input: first }), upstream_response: json({ data: [] }) },
      ],
      upstream: sent(url, { input: second }),
      answer: json({ error_code: 18, error_msg: "slow down" }),
      client: refused(429, { message: "slow down", type: "baidu_error", param: "", code: "18" }),
      verdict: ["rate_limited", "retry"],
    });
  });
});

describe("finish reasons", () => {
  it.each([
    [15, "bce-v3/k", "https://qianfan.baidubce.com/v2/chat/completions", "normal", "stop"],
    [23, "k", "https://api.hunyuan.cloud.tencent.com/v1/chat/completions", "sensitive", "content_filter"],
    [26, "k", "https://open.bigmodel.cn/api/paas/v4/chat/completions", "model_context_window_exceeded", "length"],
    [40, "k", "https://api.siliconflow.cn/v1/chat/completions", "eos", "stop"],
  ] as const)("of type %d are translated to names that clients know", async (...row) => {
    const [type, key, url, reason, known] = row;
    const ask = { model: "m", messages: HI };
    const answer = { id: "1", object: "chat.completion", created: 1, model: "m" };
    const choice = { index: 0, message: { role: "assistant", content: "Yo" } };
    await runExchange({
      type,
      channel: { base_url: "", key },
      ask,
      upstream: sent(url, ask),
      answer: json({ ...answer, choices: [{ ...choice, finish_reason: reason }] }),
      client: {
        status: 200,
        body: { ...answer, choices: [{ ...choice, finish_reason: known }], usage: "<counted>" },
      },
    });
  });
});

it("reports a base URL that is no address and tries another channel", () =>
  runExchange({
    type: 25,
    channel: { base_url: "api.moonshot.cn", key: "k" },
    ask: { model: "m", messages: HI },
    upstream: sent("", null),
    answer: json({}),
    client: refused(502, {
      message: "The channel's base URL is not an address.",
      type: "server_error",
      param: null,
      code: "upstream_connect_failed",
    }),
  }));
