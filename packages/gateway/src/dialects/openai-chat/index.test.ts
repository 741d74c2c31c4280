import { describe, expect, it } from "vitest";
import { parseEvents } from "../../lib/text/sse.ts";
import { jsonBody } from "../../relay/body/read-body.ts";
import type { RequestSpec, JsonObject } from "../core/types.ts";
import { openaiChat } from "./index.ts";

const hi = { role: "user", content: "hi" };

function createBody(json: unknown) {
  return jsonBody(Buffer.from(typeof json === "string" ? json : JSON.stringify(json)));
}

function inspect(json: unknown): RequestSpec {
  return openaiChat.inspect(createBody(json), "chat", undefined);
}

function refusal(json: unknown): unknown {
  try {
    inspect(json);
  } catch (error) {
    return error;
  }
  return undefined;
}

describe("inspect", () => {
  it("reads what routing and pricing need", () => {
    const spec = inspect({
      model: "gpt-4o",
      messages: [hi],
      stream: true,
      stream_options: { include_usage: true },
      max_completion_tokens: 100,
      max_tokens: 100,
      n: 2,
      reasoning_effort: "low",
    });
    expect(spec).toMatchObject({
      operation: "chat",
      dialect: "openai-chat",
      model: "gpt-4o",
      stream: true,
      wantsStreamUsage: true,
      outputCap: 200,
      units: 1,
      reasoningEffort: "low",
    });
    expect(spec.promptEstimate).toBeGreaterThanOrEqual(8);
  });

  it("takes a cap of zero and null members as missing", () => {
    expect(inspect({ model: "m", messages: [hi], max_tokens: 0, stream: null, n: null }).outputCap).toBeUndefined();
  });

  it("adds images, audio and files to the estimate", () => {
    const plain = inspect({ model: "gpt-4o", messages: [{ role: "user", content: [{ type: "text", text: "look" }] }] });
    const image = { type: "image_url", image_url: { url: "https://example.com/a.png", detail: "high" } };
    const seen = inspect({
      model: "gpt-4o",
      messages: [{ role: "user", content: [{ type: "text", text: "look" }, image] }],
    });
    expect(seen.promptEstimate - plain.promptEstimate).toBe(765);
  });

  it.each([
    [{ messages: [hi] }, "model_required", "model"],
    [{ model: "a\nb", messages: [hi] }, "invalid_model", "model"],
    [{ model: "../x", messages: [hi] }, "invalid_model", "model"],
    [{ model: 3, messages: [hi] }, "invalid_request", "model"],
    [{ model: "m" }, "invalid_request", "messages"],
    [{ model: "m", messages: [] }, "invalid_request", "messages"],
    [{ model: "m", messages: "hi" }, "invalid_request", "messages"],
    [{ model: "m", messages: [3] }, "invalid_request", "messages[0]"],
    [{ model: "m", messages: [{ content: "x" }] }, "invalid_request", "messages[0].role"],
    [{ model: "m", messages: [{ role: "user", content: 3 }] }, "invalid_request", "messages[0].content"],
    [{ model: "m", messages: [hi], stream: "yes" }, "invalid_request", "stream"],
    [{ model: "m", messages: [hi], n: 0 }, "invalid_request", "n"],
    [{ model: "m", messages: [hi], max_tokens: -1 }, "invalid_max_tokens", "max_tokens"],
    [{ model: "m", messages: [hi], max_completion_tokens: 2 ** 31 }, "invalid_max_tokens", "max_completion_tokens"],
    ["{", "invalid_json", undefined],
  ])("refuses %j", (json, code, param) => {
    expect(refusal(json)).toMatchObject({ code, param, status: 400, origin: "client" });
  });
});

describe("retarget", () => {
  const retarget = (text: string, model: string, askUsage: boolean): string => {
    const body = createBody(text);
    return openaiChat.retarget(body, openaiChat.inspect(body, "chat", undefined), model, { askUsage }).toString();
  };
  const text =
    '{"temperature":1.0,"model":"a","messages":[{"role":"user","content":"hi"}],"seed":12345678901234567890,"stream":true}';

  it("returns the very same buffer when nothing changes", () => {
    const body = createBody(text);
    const spec = openaiChat.inspect(body, "chat", undefined);
    expect(openaiChat.retarget(body, spec, "a", { askUsage: false })).toBe(body.bytes);
  });

  it("changes the model and the usage switch only", () => {
    expect(retarget(text, "b", true)).toBe(
      text.replace('"a"', '"b"').replace(/}$/, ',"stream_options":{"include_usage":true}}'),
    );
  });

  it("keeps the client's other stream options", () => {
    const asked = text.replace('"stream":true', '"stream":true,"stream_options":{"include_obfuscation":false}');
    expect(JSON.parse(retarget(asked, "a", true))).toMatchObject({
      stream_options: { include_obfuscation: false, include_usage: true },
    });
  });

  it("gives calls their own ids again, other bytes stay", () => {
    const history = (id: string) =>
      `{"n":1.0,"messages":[{"role":"assistant","tool_calls":[{"id":"${id}","function":{"name":"f","arguments":"{ }"}}]},{"role":"tool","tool_call_id":"${id}","content":"${id}"}],"model":"gpt-4.1"}`;
    const signed = "call_1__thought__CiQB";
    const known = history("call_1").replace('"content":"call_1"', `"content":"${signed}"`);
    expect(retarget(history(signed), "gpt-4.1", false)).toBe(known);
    expect(retarget(history(signed), "gemini-3-pro", false)).toBe(history(signed).replace("gpt-4.1", "gemini-3-pro"));
  });

  it("gives other models no signature of Google, which they refuse", () => {
    const extra = ',"extra_content":{"google":{"thought_signature":"CiQB"}}';
    const history = (more: string) =>
      `{"n":1.0,"messages":[{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{ }"}${more}}]}],"model":"gpt-4.1"}`;
    expect(retarget(history(extra), "gpt-4.1", false)).toBe(history(""));
    expect(retarget(history(extra), "gemini-3-pro", false)).toBe(history(extra).replace("gpt-4.1", "gemini-3-pro"));
  });

  it("leaves no second reading of the model to the upstream", () => {
    const doubled = '{"model":"expensive","messages":[{"role":"user","content":"hi"}],"model":"cheap"}';
    expect(retarget(doubled, "cheap", false)).toBe('{"model":"cheap","messages":[{"role":"user","content":"hi"}]}');
    const escaped = '{"mod\\u0065l":"a","messages":[{"role":"user","content":"hi"}]}';
    expect(retarget(escaped, "b", false)).toBe('{"model":"b","messages":[{"role":"user","content":"hi"}]}');
  });
});

describe("meter", () => {
  const feed = (...blocks: string[]) => {
    const meter = openaiChat.meter();
    for (const block of blocks) meter.feed(Buffer.from(block));
    return meter;
  };
  const chunk = (extra: string) =>
    `data: {"id":"1","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]${extra}}\n\n`;

  it("takes the last usage, with blanks, inside a choice or under a vendor's name", () => {
    const usage = '{"prompt_tokens": 7, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 2}}';
    for (const block of [
      chunk(`,"usage":{"prompt_tokens":1,"completion_tokens":1}`) + chunk(`, "usage" : ${usage}`),
      `data: {"choices":[{"finish_reason":"stop","usage":${usage}}]}\n\n`,
      `data: {"choices":[],"x_groq":{"usage":${usage}}}\n\n`,
      chunk(`,"usage":${usage}`) + chunk(',"usage":null'),
    ]) {
      expect(feed(block).usage).toMatchObject({ input: 7, output: 3, cachedInput: 2 });
    }
  });

  it("takes the counts of llama-server's timings where no usage comes", () => {
    const timings = ',"timings":{"cache_n":4,"prompt_n":30,"predicted_n":9,"prompt_ms":12.5}';
    expect(feed(chunk(timings)).usage).toMatchObject({ input: 34, output: 9, cachedInput: 4 });
    const both = `${chunk(timings)}${chunk(',"usage":{"prompt_tokens":35,"completion_tokens":9}')}`;
    expect(feed(both).usage).toMatchObject({ input: 35, output: 9 });
  });

  it("is not misled by what the text says", () => {
    const text = JSON.stringify(
      '{"usage":{"prompt_tokens":9},"finish_reason":"stop","error":{"message":"x"}} data: [DONE]',
    );
    const meter = feed(`data: {"choices":[{"delta":{"content":${text}},"finish_reason":null}]}\n\n`);
    expect([meter.usage, meter.finished, meter.terminated, meter.error]).toEqual([undefined, false, false, undefined]);
  });

  it("sees the end and the terminator", () => {
    const meter = feed('data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n');
    expect([meter.finished, meter.terminated]).toEqual([true, false]);
    meter.feed(Buffer.from("data: [DONE]\n\n"));
    expect(meter.terminated).toBe(true);
    expect(feed('data: {"choices":[{"finish_reason":""}]}\n\n').finished).toBe(false);
  });

  it("reports error events whatever their shape is", () => {
    expect(
      feed('data: {"error":{"message":"slow","code":429,"metadata":{"error_type":"rate_limit_exceeded"}}}\n\n').error,
    ).toEqual({
      message: "slow",
      type: undefined,
      code: "rate_limit_exceeded",
      param: undefined,
      status: 429,
    });
    expect(feed('data: {"error":"broken"}\n\n').error?.message).toBe("broken");
    expect(feed('event: error\ndata: {"message":"odd","type":"error"}\n\n').error?.message).toBe("odd");
    expect(feed('data: {"object":"error","message":"too long","type":"BadRequestError","code":400}\n\n').error).toEqual(
      {
        message: "too long",
        type: "BadRequestError",
        code: undefined,
        param: undefined,
        status: 400,
      },
    );
    expect(feed(chunk(',"error":null')).error).toBeUndefined();
  });

  it("takes a sentence in place of the first chunk for a refusal", () => {
    const block = (data: object) => `data: ${JSON.stringify(data)}\n\n`;
    expect(feed(block({ code: 1001, msg: "quota used up", data: null })).error?.message).toBe("quota used up");
    expect(feed(block({ code: 429, message: "slow down" })).error).toMatchObject({ message: "slow down", status: 429 });
    expect(feed(block({ id: "1", usage: { prompt_tokens: 1 }, message: "" })).error).toBeUndefined();
    expect(feed(chunk(""), block({ message: "kept alive" })).error).toBeUndefined();
  });

  it("takes a choice that ended in an error for a failure", () => {
    const failed = { id: "1", choices: [{ index: 0, delta: {}, message: { content: "a" }, finish_reason: "error" }] };
    expect(feed(chunk("") + `data: ${JSON.stringify(failed)}\n\n`).error?.message).toContain("with an error");
    expect(openaiChat.errorIn(failed)?.message).toContain("with an error");
    const said = { choices: [{ index: 0, delta: { content: "error", role: "error" }, finish_reason: "stop" }] };
    expect(feed(`data: ${JSON.stringify(said)}\n\n`).error).toBeUndefined();
  });

  it("finds whole answers that are nothing but an error", () => {
    const error = { object: "error", message: "too long", type: "BadRequestError", param: null, code: 400 };
    expect(openaiChat.errorIn(error as JsonObject)).toMatchObject({ message: "too long", status: 400 });
    expect(openaiChat.errorIn({ object: "chat.completion", choices: [] })).toBeUndefined();
    expect(openaiChat.errorIn({ detail: "Not authenticated" })).toMatchObject({ message: "Not authenticated" });
    expect(openaiChat.errorIn({ code: 0, message: "ok", choices: [] })).toBeUndefined();
    expect(openaiChat.errorIn({ id: "1", message: "ok", usage: { prompt_tokens: 1 } })).toBeUndefined();
  });

  it("knows the names that other servers give to the counts", () => {
    const usage = { input_tokens: 100, output_tokens: 20, total_tokens: 120 };
    expect(openaiChat.usage({ choices: [], usage })).toMatchObject({ input: 100, output: 20 });
    const prompt_tokens_details = { cached_tokens: 40, cache_creation_tokens: 30 };
    expect(
      openaiChat.usage({ choices: [], usage: { prompt_tokens: 100, completion_tokens: 20, prompt_tokens_details } }),
    ).toMatchObject({ input: 100, cachedInput: 40, cacheWrite: 30 });
  });

  it("takes counts that are no whole numbers as missing", () => {
    expect(feed(chunk(',"usage":{"prompt_tokens":-1,"completion_tokens":"3"}')).usage).toBeUndefined();
    expect(
      feed(chunk(',"usage":{"prompt_tokens":10,"completion_tokens":1.5,"prompt_tokens_details":{"cached_tokens":99}}'))
        .usage,
    ).toMatchObject({
      input: 10,
      output: 0,
      cachedInput: 10,
    });
  });
});

describe("texts", () => {
  it("count overhead as compatible gateways do", () => {
    const { text, extra } = openaiChat.promptTexts(createBody({ model: "m", messages: [hi] }));
    expect({ text, extra }).toEqual({ text: "hi", extra: 7 });
  });

  it("name words for filters without schemas and names", () => {
    const words = openaiChat.promptWords(
      createBody({
        model: "m",
        messages: [
          hi,
          { role: "assistant", tool_calls: [{ id: "1", function: { name: "f", arguments: "{}" } }] },
          { role: "tool", content: [{ type: "text", text: "out" }] },
        ],
        tools: [{ type: "function", function: { name: "f", description: "secret", parameters: {} } }],
      }),
    );
    expect(words).toEqual(["hi", "out"]);
  });

  it("add up an answer's text, reasoning and calls", () => {
    const message = {
      content: "a",
      reasoning_content: "b",
      refusal: "c",
      tool_calls: [{ function: { name: "f", arguments: "{}" } }],
    };
    expect(openaiChat.answerTexts({ choices: [{ message }] })).toEqual({ text: "abcf{}", extra: 7 });
    expect(openaiChat.eventTexts({ choices: [{ delta: { tool_calls: [{ function: { arguments: "{" } }] } }] })).toEqual(
      { text: "{", extra: 0 },
    );
  });
});

describe("streams and whole answers", () => {
  const answer: JsonObject = {
    id: "c1",
    object: "chat.completion",
    created: 5,
    model: "m",
    system_fingerprint: "fp",
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: "text",
          reasoning_content: "why",
          tool_calls: [{ id: "t1", type: "function", function: { name: "f", arguments: "{}" } }],
        },
        finish_reason: "tool_calls",
      },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
  };
  const ask = (wantsStreamUsage: boolean): RequestSpec => ({
    ...inspect({ model: "m", messages: [hi] }),
    stream: true,
    wantsStreamUsage,
  });
  const events = (asked: RequestSpec) =>
    parseEvents(openaiChat.toStream(answer, asked)).flatMap(({ data }) => (data ? [data] : []));

  it("become each other", () => {
    expect(openaiChat.assembleAnswer(events(ask(true)))).toEqual(answer);
  });

  it("show usage to those who asked", () => {
    const last = (asked: RequestSpec) => events(asked).at(-1);
    expect(openaiChat.isUsageOnly(last(ask(true)) ?? {})).toBe(true);
    expect(openaiChat.isUsageOnly(last(ask(false)) ?? {})).toBe(false);
    expect(openaiChat.isUsageOnly({ choices: null, usage: { prompt_tokens: 1 } })).toBe(true);
    expect(openaiChat.isUsageOnly({ id: "c1", usage: { prompt_tokens: 1 } })).toBe(true);
    expect(openaiChat.isUsageOnly({ id: "c1", usage: null })).toBe(false);
  });

  it("add up parallel tool calls by index, or by id where the index is missing", () => {
    const delta = (call: JsonObject) => ({
      id: "c",
      choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: null }],
    });
    const buildNamedDelta = (id: string, args: string, index?: number) =>
      delta({ ...(index !== undefined && { index }), id, function: { name: id, arguments: args } });
    const calls = (list: JsonObject[]) => {
      const whole = openaiChat.assembleAnswer(list) as {
        choices: { message: { tool_calls: { function: unknown }[] } }[];
      };
      return whole.choices[0]?.message.tool_calls.map((call) => call.function);
    };
    const expected = [
      { name: "a", arguments: "{1}" },
      { name: "b", arguments: "{}" },
    ];
    expect(
      calls([
        buildNamedDelta("a", "{", 0),
        buildNamedDelta("b", "{}", 1),
        delta({ index: 0, function: { arguments: "1}" } }),
      ]),
    ).toEqual(expected);
    expect(calls([buildNamedDelta("a", "{1}"), buildNamedDelta("b", "{}")])).toEqual(expected);
    expect(calls([buildNamedDelta("a", "{1}", 0), buildNamedDelta("b", "{}", 0)])).toEqual(expected);
  });

  it("make a usage chunk in the name of the stream", () => {
    const usage = { ...openaiChat.usage(answer)!, source: "counted" as const };
    const [made] = parseEvents(openaiChat.usageEvent(usage, { id: "c1", created: 5, model: "m" }) ?? Buffer.alloc(0));
    expect(made?.data).toEqual({
      id: "c1",
      created: 5,
      model: "m",
      object: "chat.completion.chunk",
      choices: [],
      usage: answer["usage"],
    });
  });
});
