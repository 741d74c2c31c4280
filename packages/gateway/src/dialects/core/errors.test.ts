import { describe, expect, it } from "vitest";
import { AppError, ERRORS, type ErrorCode } from "../../lib/app-error.ts";
import { parseEvents } from "../../lib/text/sse.ts";
import { errorAnswer, errorFrame } from "./errors.ts";
import type { ErrorDialect } from "./types.ts";

const ID = "01REQUEST";

function answer(dialect: ErrorDialect, error: AppError) {
  const { status, headers, body } = errorAnswer(dialect, error, ID);
  return { status, headers, json: JSON.parse(body.toString()) as unknown };
}

describe("errorAnswer", () => {
  it("fills all four members of the OpenAI envelope", () => {
    expect(answer("openai", new AppError("model_required", { param: "model" }))).toEqual({
      status: 400,
      headers: { "content-type": "application/json; charset=utf-8" },
      json: {
        error: {
          message: `The request names no model. (request id: ${ID})`,
          type: "invalid_request_error",
          param: "model",
          code: "model_required",
        },
      },
    });
  });

  it.each([
    ["openai", 403, "insufficient_quota"],
    ["anthropic", 402, "billing_error"],
  ] as const)("names a low balance in the words of %s", (dialect, status, type) => {
    const { json, ...head } = answer(dialect, new AppError("insufficient_user_quota"));
    expect(head.status).toBe(status);
    expect(head.headers["x-should-retry"]).toBe("false");
    expect(json).toMatchObject({ error: { type } });
  });

  it("wraps Anthropic errors with details and request id", () => {
    const error = new AppError("invalid_request", {
      values: { reason: "no threads here" },
      details: { error_code: "thread_unsupported_request" },
    });
    expect(answer("anthropic", error).json).toEqual({
      type: "error",
      error: {
        type: "invalid_request_error",
        message: "no threads here",
        details: { error_code: "thread_unsupported_request" },
      },
      request_id: ID,
    });
  });

  it("gives Gemini a status name and a reason", () => {
    expect(answer("gemini", new AppError("invalid_api_key")).json).toEqual({
      error: {
        code: 401,
        message: "The API key is not valid.",
        status: "UNAUTHENTICATED",
        details: [
          { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID", domain: "fairway" },
        ],
      },
    });
    expect(answer("gemini", new AppError("request_too_large", { values: { limit: 1 } })).json).toMatchObject({
      error: { code: 413, status: "INVALID_ARGUMENT" },
    });
  });

  it("tells Anthropic and Gemini clients of limits and waits where they look for them", () => {
    const headers = {
      "x-ratelimit-limit-requests": "5",
      "x-ratelimit-remaining-requests": "0",
      "x-ratelimit-reset-requests": "31s",
    };
    const error = new AppError("rate_limit_exceeded", { message: "m", retryAfterMs: 30_400, headers });
    const reported = answer("anthropic", error).headers;
    expect(reported).toMatchObject({
      ...headers,
      "anthropic-ratelimit-requests-limit": "5",
      "anthropic-ratelimit-requests-remaining": "0",
    });
    const resetMs = Date.parse(reported["anthropic-ratelimit-requests-reset"] ?? "") - Date.now();
    expect(resetMs).toBeGreaterThan(29_000);
    expect(resetMs).toBeLessThanOrEqual(31_000);
    expect(answer("openai", error).headers["anthropic-ratelimit-requests-limit"]).toBeUndefined();
    const retryInfo = { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "31s" };
    expect(answer("gemini", error).json).toMatchObject({ error: { details: [{}, retryInfo] } });
  });

  it("keeps an overloaded upstream's 529 for Anthropic clients only", () => {
    const error = AppError.upstream({
      status: 529,
      message: "Overloaded",
      type: "overloaded_error",
      code: undefined,
      param: undefined,
      retryable: true,
      retryAfterMs: 1200,
    });
    expect(answer("anthropic", error)).toMatchObject({ status: 529, json: { error: { type: "overloaded_error" } } });
    const openai = answer("openai", error);
    expect(openai).toMatchObject({ status: 503, json: { error: { type: "overloaded_error", code: null } } });
    expect(openai.headers).toMatchObject({ "retry-after": "2", "retry-after-ms": "1200" });
  });

  it("never uses types that make a chained gateway disable its channel", () => {
    for (const code of Object.keys(ERRORS) as ErrorCode[]) {
      const { error } = JSON.parse(errorAnswer("openai", new AppError(code), ID).body.toString()) as {
        error: { type: string };
      };
      expect(error.type).toMatch(/^(invalid_request_error|insufficient_quota|rate_limit_error|server_error)$/);
    }
  });

  it("tells clients not to repeat what cannot succeed", () => {
    const error = AppError.upstream({
      status: 502,
      message: "x",
      type: undefined,
      code: "upstream_auth_error",
      param: undefined,
      retryable: false,
    });
    expect(answer("openai", error).headers).toMatchObject({ "x-should-retry": "false" });
  });

  it("speaks to drawing and music clients", () => {
    expect(
      answer("midjourney", new AppError("invalid_request", { values: { reason: "prompt_is_required" } })).json,
    ).toEqual({
      description: "prompt_is_required",
      type: "upstream_error",
      code: 4,
    });
    expect(answer("suno", new AppError("upstream_connect_failed")).json).toEqual({
      code: "upstream_connect_failed",
      message: "The upstream could not be reached.",
      data: null,
    });
  });
});

describe("errorFrame", () => {
  const error = new AppError("upstream_stream_interrupted");

  it("names the event only where clients need a name", () => {
    expect(errorFrame("openai", error, ID).toString()).toMatch(/^data: \{"error":\{"message":.*\}\n\n$/);
    expect(errorFrame("gemini", error, ID).toString()).toMatch(/^data: \{"error":\{"code":502,/);
    expect(errorFrame("anthropic", error, ID).toString()).toMatch(/^event: error\ndata: \{"type":"error",/);
  });

  it("reports a Responses stream as failed when the response was announced", () => {
    const frames = parseEvents(errorFrame("openai-responses", error, ID, { sequence: 7, response: { id: "resp_1" } }));
    expect(frames.map(({ event, data }) => [event, data?.["sequence_number"]])).toEqual([
      ["error", 7],
      ["response.failed", 8],
    ]);
    expect(frames[1]?.data).toMatchObject({ response: { id: "resp_1", status: "failed" } });
    expect(parseEvents(errorFrame("openai-responses", error, ID))).toHaveLength(1);
  });
});
