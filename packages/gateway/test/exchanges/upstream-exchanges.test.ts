import { describe, expect, it } from "vitest";
import { createChunks, events, HI, json, refused, runExchange, sent } from "./exchange-kit.ts";

describe("Ali", () => {
  const channel = { base_url: "https://dashscope.aliyuncs.com", key: "sk" };
  const path = "/api/v1/services/aigc/text-generation/generation";
  const model = "qwen-turbo";
  const ask = { model, messages: HI };
  const body = { model, input: { messages: HI }, parameters: { result_format: "message" } };
  const streamed = { ...body, parameters: { result_format: "message", incremental_output: true } };
  const upstream = sent(`https://dashscope.aliyuncs.com${path}`, streamed);
  const piece = (content: string, reason: string) =>
    `id:1\nevent:result\n:HTTP_STATUS/200\ndata:${JSON.stringify({ output: { choices: [{ message: { content }, finish_reason: reason }] }, usage: { input_tokens: 9, output_tokens: 1 }, request_id: "r" })}`;
  const failure = `id:2\nevent:error\n:HTTP_STATUS/400\ndata:${JSON.stringify({ code: "DataInspectionFailed", message: "unfit", request_id: "r" })}`;
  const error = { message: "unfit", type: "DataInspectionFailed", param: "r", code: "DataInspectionFailed" };

  it("classifies a failed stream like a failed whole answer", async () => {
    await runExchange({
      type: 17,
      channel,
      ask: { ...ask, stream: true },
      upstream,
      answer: events(failure),
      client: refused(400, error),
      verdict: ["content_filter", "none"],
    });
    await runExchange({
      type: 17,
      channel,
      ask: { ...ask, stream: true },
      upstream,
      answer: events(piece("Hel", "null"), failure),
      client: {
        status: 200,
        sse: [createChunks({ id: "r", model }).delta({ role: "assistant", content: "Hel" }), { error }],
      },
    });
  });

  it("requests events below a path of the base URL too", () =>
    runExchange({
      type: 17,
      channel: { ...channel, base_url: "https://proxy.example.com/ds" },
      ask: { ...ask, stream: true },
      upstream: sent(`https://proxy.example.com/ds${path}`, streamed, { "X-DashScope-SSE": "enable" }),
      answer: events(piece("Hi", "stop")),
      usage: { prompt_tokens: 9, completion_tokens: 1 },
    }));

  it("finds the native protocol next to the base of the compatible one", async () => {
    const compatible = { ...channel, base_url: "https://dashscope.aliyuncs.com/compatible-mode/v1" };
    await runExchange({
      type: 17,
      channel: compatible,
      ask,
      upstream: sent(`https://dashscope.aliyuncs.com${path}`, body),
      answer: json({ output: { text: "Hi", finish_reason: "stop" }, request_id: "r" }),
    });
    await runExchange({
      type: 17,
      channel: compatible,
      ask: { model: "wanx-v1", prompt: "A kite" },
      path: "/v1/images/generations",
      before: [
        {
          upstream_request: sent(
            "https://dashscope.aliyuncs.com/api/v1/services/aigc/text2image/image-synthesis",
            { model: "wanx-v1", input: { prompt: "A kite" }, parameters: {} },
            { "X-DashScope-Async": "enable" },
          ),
          upstream_response: json({ output: { task_id: "t", task_status: "PENDING" } }),
        },
      ],
      upstream: sent("https://dashscope.aliyuncs.com/api/v1/tasks/t", null, {}, "GET"),
      answer: json({ output: { task_status: "SUCCEEDED", results: [{ url: "https://i.example/1.png" }] } }),
      client: { status: 200, body: { created: "<now>", data: [{ url: "https://i.example/1.png" }] } },
    });
  });

  it.each([
    ["Access denied.", "bad_key", "disable"],
    ["You may not use the model qwen-x.", "model_unavailable", "retry"],
    ["This API does not support synchronous calls.", "invalid_request", "retry"],
  ] as const)("classifies AccessDenied by its message: %s", (message, name, action) =>
    runExchange({
      type: 17,
      channel,
      ask,
      upstream: sent(`https://dashscope.aliyuncs.com${path}`, body),
      answer: json({ code: "AccessDenied", message, request_id: "r" }, 403),
      verdict: [name, action],
    }),
  );

  it.each([
    [400, "invalid_request", "none"],
    [403, "bad_key", "retry"],
    [429, "rate_limited", "retry"],
  ] as const)("classifies an unknown code by the status %d", (status, name, action) =>
    runExchange({
      type: 17,
      channel,
      ask,
      upstream: sent(`https://dashscope.aliyuncs.com${path}`, body),
      answer: json({ code: "SomethingNew", message: "new", request_id: "r" }, status),
      verdict: [name, action],
    }),
  );
});

describe("Baidu", () => {
  const base_url = "https://aip.baidubce.com";
  const ask = { model: "ERNIE-Speed-8K", messages: HI };
  const exchange = (key: string, answer: ReturnType<typeof json>) => ({
    type: 15,
    channel: { base_url, key: `${key}|s` },
    ask,
    upstream: sent(`${base_url}/oauth/2.0/token?grant_type=client_credentials&client_id=${key}&client_secret=s`, null),
    answer,
  });

  it("does not reject a key because the token endpoint is busy or returns a page", async () => {
    await runExchange({ ...exchange("busy", json({}, 429)), verdict: ["rate_limited", "retry"] });
    await runExchange({
      ...exchange("page", json("<html>sign in</html>", 200, "text/html")),
      verdict: ["upstream_error", "retry"],
    });
  });

  it("sends the application of a key to the newer form", () =>
    runExchange({
      type: 15,
      channel: { base_url: "", key: "bce-v3/ALTAK-1/2|app-7" },
      ask,
      upstream: sent(
        "https://qianfan.baidubce.com/v2/chat/completions",
        { model: "ernie-speed-8k", messages: HI },
        { Authorization: "Bearer bce-v3/ALTAK-1/2", appid: "app-7" },
      ),
      answer: json({ id: "b", choices: [] }),
    }));

  it("describes a schema in the prompt, because the vendor supports none", () => {
    const schema = { type: "object", properties: { a: { type: "string" } } };
    return runExchange({
      type: 15,
      channel: { base_url, key: "schema|s" },
      ask: { ...ask, response_format: { type: "json_schema", json_schema: { name: "a", schema } } },
      before: [
        {
          upstream_request: exchange("schema", json({})).upstream,
          upstream_response: json({ access_token: "T", expires_in: 2_592_000 }),
        },
      ],
      upstream: sent(`${base_url}/rpc/2.0/ai_custom/v1/wenxinworkshop/chat/ernie_speed?access_token=T`, {
        messages: HI,
        system: `Answer with one JSON value that matches this JSON schema, and nothing else:\n${JSON.stringify(schema)}`,
        response_format: "json_object",
      }),
      answer: json({ id: "b", result: "{}", usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } }),
    });
  });
});

describe("Tencent", () => {
  const channel = { base_url: "", key: "1|id|secret" };
  const ask = { model: "hunyuan-lite", messages: HI };
  const body = { Model: "hunyuan-lite", Messages: [{ Role: "user", Content: "Hi" }], Stream: false };

  it("refuses an answer whose engine failed", () =>
    runExchange({
      type: 23,
      channel,
      ask,
      upstream: sent("https://hunyuan.tencentcloudapi.com/", body),
      answer: json({ Response: { Choices: [], ErrorMsg: { Msg: "engine failed", Code: 4001 }, RequestId: "r" } }),
      client: refused(502, { message: "engine failed", type: "tencent_error", param: "r", code: "4001" }),
      verdict: ["upstream_error", "retry"],
    }));

  it("takes no more than 40 turns", async () => {
    const messages = Array.from({ length: 41 }, (_, index) => ({
      role: index % 2 === 0 ? "user" : "assistant",
      content: "x",
    }));
    const run = runExchange({
      type: 23,
      channel,
      ask: { model: "hunyuan-lite", messages },
      upstream: sent("", null),
      answer: json({}),
      client: refused(400, {
        message: "messages must hold no more than 40 turns for this upstream.",
        type: "invalid_request_error",
        param: "messages",
        code: "invalid_request",
      }),
    });
    await expect(run).resolves.toBeUndefined();
  });
});

describe("Spark", () => {
  const channel = { base_url: "", key: "a|b|c", other: "v3.5" };
  const ask = { model: "SparkDesk", messages: HI };

  it("reports a refused handshake with the vendor's message", () =>
    runExchange({
      type: 18,
      channel,
      ask,
      upstream: sent("<signed>", null, {}, "GET"),
      answer: json({ message: "HMAC signature does not match" }, 401),
      client: refused(401, {
        message: "HMAC signature does not match",
        type: "xunfei_error",
        param: "401",
        code: "bad_response_status_code",
      }),
      verdict: ["bad_key", "disable"],
    }));

  it("reads the codes of the HTTP interface", () =>
    runExchange({
      type: 18,
      channel: { base_url: "", key: "password" },
      ask,
      upstream: sent("https://spark-api-open.xf-yun.com/v1/chat/completions", ask),
      answer: json({ error: { message: "AppIdNoAuthError", type: "api_error", param: null, code: "11200" } }, 400),
      verdict: ["out_of_credit", "disable"],
    }));
});

describe("others", () => {
  it.each([
    [26, "https://open.bigmodel.cn/api/coding/paas/v4", "/chat/completions"],
    [45, "https://ark.cn-beijing.volces.com/api/coding/v3", "/chat/completions"],
    [25, "https://api.kimi.com/coding/v1", "/chat/completions"],
  ])("of type %d join the base of a plan", (type, base, path) => {
    const ask = { model: "m", messages: HI };
    return runExchange({
      type,
      channel: { base_url: base, key: "k" },
      ask,
      upstream: sent(base + path, ask),
      answer: json({ id: "1", choices: [] }),
    });
  });

  it("find DeepSeek's single calls next to a base with a version", () => {
    const ask = { model: "deepseek-chat", prompt: "a" };
    return runExchange({
      type: 43,
      channel: { base_url: "https://api.deepseek.com/v1", key: "k" },
      ask,
      path: "/v1/completions",
      upstream: sent("https://api.deepseek.com/beta/completions", ask),
      answer: json({ id: "1", choices: [] }),
    });
  });

  it("report usage after every chunk, and those reports are removed", () => {
    const chunk = (content: string, finish: string | null, output: number) => ({
      id: "1",
      object: "chat.completion.chunk",
      created: 1,
      model: "q",
      choices: [{ index: 0, delta: { content }, finish_reason: finish }],
      usage: { prompt_tokens: 9, completion_tokens: output, total_tokens: 9 + output },
    });
    const seen = createChunks({ id: "1", model: "q", created: 1 });
    const ask = { model: "q", messages: HI, stream: true };
    return runExchange({
      type: 40,
      channel: { base_url: "https://api.siliconflow.cn", key: "k" },
      ask,
      upstream: sent("https://api.siliconflow.cn/v1/chat/completions", ask),
      answer: events(chunk("H", null, 1), chunk("i", null, 2), chunk("", "stop", 2), "data: [DONE]"),
      client: {
        status: 200,
        sse: [
          seen.delta({ content: "H" }),
          seen.delta({ content: "i" }),
          seen.delta({ content: "" }, "stop"),
          "[DONE]",
        ],
      },
      usage: { prompt_tokens: 9, completion_tokens: 2 },
    });
  });

  it("put usage into the choice, where clients do not expect it", () => {
    const usage = { prompt_tokens: 7, completion_tokens: 1, total_tokens: 8 };
    const last = { index: 0, delta: {}, finish_reason: "stop", usage };
    const head = { id: "1", object: "chat.completion.chunk", created: 1, model: "m" };
    const ask = { model: "m", messages: HI, stream: true, stream_options: { include_usage: true } };
    return runExchange({
      type: 25,
      channel: { base_url: "https://api.moonshot.cn", key: "k" },
      ask,
      upstream: sent("https://api.moonshot.cn/v1/chat/completions", ask),
      answer: events({ ...head, choices: [last] }, "data: [DONE]"),
      client: { status: 200, sse: [{ ...head, choices: [last], usage }, "[DONE]"] },
      usage: { prompt_tokens: 7, completion_tokens: 1 },
    });
  });

  it("refuse with one sentence, which is forwarded", () => {
    const ask = { model: "q", messages: HI };
    const said = (answer: ReturnType<typeof json>) =>
      runExchange({
        type: 40,
        channel: { base_url: "https://api.siliconflow.cn", key: "k" },
        ask,
        upstream: sent("https://api.siliconflow.cn/v1/chat/completions", ask),
        answer,
        client: refused(401, {
          message: "Api key is invalid",
          type: "upstream_error",
          param: "401",
          code: "bad_response_status_code",
        }),
        verdict: ["bad_key", "disable"],
      });
    return Promise.all([
      said(json('"Api key is invalid"', 401)),
      said(json("Api key is invalid", 401, "text/plain; charset=utf-8")),
    ]);
  });

  it("fail with status 200 and a status in the body", () => {
    const ask = { model: "x", messages: HI };
    return runExchange({
      type: 22,
      channel: { base_url: "https://fastgpt.run/api/openapi", key: "k-1" },
      ask,
      upstream: sent("https://fastgpt.run/api/openapi/v1/chat/completions", ask),
      answer: json({ code: 503, statusText: "error", message: "busy", data: null }),
      client: refused(503, { message: "busy", type: "fastgpt_error", param: "", code: "503" }),
      verdict: ["overloaded", "retry"],
    });
  });

  it("end with an action that no client can perform", () => {
    const ask = { model: "bot", messages: HI, stream: true };
    return runExchange({
      type: 49,
      channel: { base_url: "https://api.coze.cn", key: "pat", other: "7" },
      ask,
      upstream: sent("https://api.coze.cn/v3/chat", {
        bot_id: "7",
        user_id: "api-user",
        stream: true,
        additional_messages: [{ role: "user", content: "Hi", content_type: "text" }],
      }),
      answer: events(
        'event:conversation.chat.created\ndata:{"id":"c","created_at":1}',
        'event:conversation.chat.requires_action\ndata:{"id":"c"}',
        'event:done\ndata:"[DONE]"',
      ),
      client: refused(502, {
        message: "The bot requests an action that this protocol cannot carry.",
        type: "coze_error",
        param: "",
        code: null,
      }),
      verdict: ["upstream_error", "retry"],
    });
  });

  it("name filtered content by their codes", () => {
    const ask = { model: "ep-1", messages: HI };
    const code = "InputTextSensitiveContentDetected.PolicyViolation";
    return runExchange({
      type: 45,
      channel: { base_url: "https://ark.cn-beijing.volces.com", key: "k" },
      ask,
      upstream: sent("https://ark.cn-beijing.volces.com/api/v3/chat/completions", ask),
      answer: json({ error: { code, message: "unfit", param: "", type: "BadRequest" } }, 400),
      verdict: ["content_filter", "none"],
    });
  });
});
