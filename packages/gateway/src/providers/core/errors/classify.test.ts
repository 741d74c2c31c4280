import { describe, expect, it } from "vitest";
import { isContextOverflow } from "../../../dialects/core/context-overflow.ts";
import { readFailure, readErrorEvent, failureIn200 } from "./classify.ts";

const plain = {};

function read(status: number, body: unknown, headers: Record<string, string> = {}) {
  const bytes = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  return readFailure(plain, { status, headers, body: bytes }, { now: Date.UTC(2026, 0, 1) });
}

describe("readFailure", () => {
  it.each([
    ["openai", { error: { message: "m", type: "t", param: "p", code: "c" } }],
    ["text", { error: "m" }],
    ["anthropic", { type: "error", error: { type: "t", message: "m" } }],
    ["google", { error: { code: 418, message: "m", status: "X" } }],
    ["google list", [{ error: { code: 418, message: "m" } }]],
    ["message", { message: "m" }],
    ["msg", { msg: "m" }],
    ["detail", { detail: "m" }],
    ["errors", { errors: [{ message: "m" }] }],
    ["code and message", { code: 7, message: "m" }],
    ["header", { header: { code: 7, message: "m" } }],
    ["response", { response: { error: { message: "m" } } }],
    ["upper case", { Response: { Error: { Code: "X", Message: "m" }, RequestId: "r" } }],
    ["fault", { fault: { faultstring: "m" } }],
    ["error_msg", { error_code: 7, error_msg: "m" }],
    ["base_resp", { base_resp: { status_code: 7, status_msg: "m" } }],
    ["oauth", { error_description: "m" }],
    ["an event under a failed status", 'event: error\ndata: {"error":{"message":"m","code":"c"}}\n\n'],
    ["an event that breaks off", 'data: {"error":{"message":"m"}}'],
    ["FastAPI's detail", { detail: { error: "m" } }],
    ["an error in FastAPI's detail", { detail: { error: { message: "m", code: "c" } } }],
    [
      "a router's raw JSON",
      { error: { message: "Provider returned error", metadata: { raw: '{"error":{"message":"m"}}' } } },
    ],
    ["a router's raw words", { error: { message: "Provider returned error", metadata: { raw: "m" } } }],
    ["chained gateways", { error: { message: "m (request id: 01A) (request id: 01B)" } }],
  ])("reads the message of %s", (_name, body) => {
    expect(read(418, body).message).toBe("m");
  });

  it.each([
    [503, { error: { message: "The engine is currently overloaded", type: "server_error", code: null } }, "overloaded"],
    [504, { type: "error", error: { type: "api_error", message: "m" } }, "timeout"],
    [500, { error: { message: "m", type: "server_error" } }, "server"],
    [400, { error: { message: "m", type: "server_error" } }, "server"],
    [400, { error: { message: "You have reached your specified API usage limits." } }, "out_of_credit"],
  ])("%i %j is %s", (status, body, expected) => {
    expect(read(status, body).class).toBe(expected);
  });

  it.each([
    [
      "an event",
      'data: {"error":{"message":"This model\'s maximum context length is 10 tokens.","code":"context_length_exceeded"}}\n\n',
    ],
    [
      "a router's raw",
      {
        error: {
          message: "Provider returned error",
          code: 400,
          metadata: { raw: '{"error":{"message":"prompt is too long: 9 tokens > 8"}}' },
        },
      },
    ],
    ["FastAPI's detail", { detail: { error: { message: "maximum context length is 10 tokens" } } }],
  ])("keeps an overflow that is in %s", (_name, body) => {
    const error = read(400, body);
    expect(isContextOverflow(error.message, error.type, error.code)).toBe(true);
  });

  it("names an unreadable body by its status", () => {
    expect(read(502, "<html>Bad Gateway</html>")).toEqual({
      class: "server",
      retry: true,
      disable: false,
      message: "bad response status code 502",
      type: "upstream_error",
      code: "bad_response_status_code",
      param: "502",
      status: 502,
    });
  });

  it.each([
    [400, {}, "bad_request"],
    [401, {}, "bad_key retry disable"],
    [402, {}, "out_of_credit retry disable"],
    [403, {}, "bad_key retry"],
    [404, {}, "not_found retry"],
    [405, {}, "bad_request retry"],
    [408, {}, "timeout"],
    [409, {}, "bad_request retry"],
    [413, {}, "bad_request retry"],
    [422, {}, "bad_request"],
    [429, {}, "rate_limit retry"],
    [307, {}, "server retry"],
    [500, {}, "server retry"],
    [503, {}, "overloaded retry"],
    [504, {}, "timeout"],
    [524, {}, "timeout"],
    [529, {}, "overloaded retry"],
    [403, { error: { type: "forbidden", message: "m" } }, "bad_key retry disable"],
    [400, { error: { code: "billing_not_active", message: "m" } }, "out_of_credit retry disable"],
    [429, { error: { type: "insufficient_user_quota", message: "m" } }, "out_of_credit retry disable"],
    [400, { error: { message: "Operation not allowed in this account" } }, "bad_request retry disable"],
    [503, { error: { message: "Operation not allowed" } }, "overloaded retry"],
    [429, { error: { message: "You exceeded your current quota" } }, "out_of_credit retry disable"],
    [400, { error: { code: "content_filter", message: "m" } }, "content_filter"],
  ])("status %d, %j", (status, body, expected) => {
    const { class: errorClass, retry, disable } = read(status, body);
    expect([errorClass, retry ? "retry" : "", disable ? "disable" : ""].join(" ").trim()).toBe(expected);
  });

  it("gives unregistered statuses one that clients know", () => {
    expect(read(498, { error: { message: "m", type: "x" } })).toMatchObject({ status: 503, class: "overloaded" });
    expect(read(301, "moved").status).toBe(502);
  });

  it.each([
    [{ "retry-after": "7" }, {}, 7000],
    [{ "retry-after": "7", "retry-after-ms": "250" }, {}, 250],
    [{ "retry-after": "Thu, 01 Jan 2026 00:00:30 GMT" }, {}, 30_000],
    [{}, { error: { message: "m", details: [{ retryDelay: "33s" }] } }, 33_000],
    [{}, { error: { message: "m", metadata: { retry_after: 2 } } }, 2000],
    [{}, { error: { message: "Please try again in 1m2.5s." } }, 62_500],
    [{}, { error: { message: "Please try again in 900ms" } }, 900],
    [{}, { error: { message: "m" } }, undefined],
    [{ "retry-after": "9".repeat(400) }, {}, 604_800_000],
    [{ "retry-after": "Fri, 31 Dec 9999 23:59:59 GMT" }, {}, 604_800_000],
  ])("reads how long to wait: %j %j", (headers, body, expected) => {
    expect(read(429, body, headers as Record<string, string>).retryAfterMs).toBe(expected);
  });

  it("lets the operator's own phrases disable a channel", () => {
    const body = Buffer.from(JSON.stringify({ error: { message: "Tenant is SUSPENDED for now" } }));
    const options = { keywords: ["suspended"] };
    expect(readFailure(plain, { status: 400, headers: {}, body }, options)).toMatchObject({
      retry: true,
      disable: true,
    });
  });
});

describe("failureIn200", () => {
  const look = (json: unknown) =>
    failureIn200(plain, { status: 200, headers: {}, body: Buffer.from(JSON.stringify(json)) });

  it("finds errors and leaves answers alone", () => {
    expect(look({ id: "x", choices: [] })).toBeUndefined();
    expect(look({ id: "resp", error: null, output: [] })).toBeUndefined();
    expect(look({ object: "error", message: "no such model", type: "NotFoundError", code: 404 })).toMatchObject({
      class: "not_found",
      status: 404,
    });
    expect(look({ error: { code: 429, message: "slow" } })).toMatchObject({ status: 429, class: "rate_limit" });
    expect(look({ code: "c", error: "no credits left: insufficient credits" })).toMatchObject({
      class: "out_of_credit",
    });
  });
});

describe("readErrorEvent", () => {
  it("takes the status from the kind of error", () => {
    const event = {
      message: "Overloaded",
      type: "overloaded_error",
      code: undefined,
      param: undefined,
      status: undefined,
    };
    expect(readErrorEvent(plain, event)).toMatchObject({ class: "overloaded", status: 529 });
  });
});
