import { describe, it } from "vitest";
import { chunksOf, events, HI, json, runExchange, sent } from "./exchange-kit.ts";

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

  it("is given what answers lack", () =>
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

  it("is given the end that streams lack", () => {
    const streamed = { ...ask, stream: true };
    const piece = (content: string, more: object = {}) => {
      const choices = [{ delta: { role: "assistant", content }, index: 0 }];
      return `data:${JSON.stringify({ code: 0, message: "Success", sid: "s", id: "s", created: 7, choices, ...more })}`;
    };
    const seen = chunksOf({ id: "s", model: "generalv3.5", created: 7 });
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

it("DashScope ranks texts, and tells what its cache saved", async () => {
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
