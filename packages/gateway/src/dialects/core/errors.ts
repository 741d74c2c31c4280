// The same failure in the form of each client protocol: a whole answer before the head was sent, a frame after it.
import type { AppError } from "../../lib/app-error.ts";
import { systemClock } from "../../lib/clock.ts";
import { encodeBlock } from "../../lib/text/sse.ts";
import { CONTEXT_OVERFLOW, overflowMessage } from "./context-overflow.ts";
import { compact } from "./read.ts";
import type { ErrorDialect, ErrorFrameOptions, JsonObject } from "./types.ts";

export interface ErrorAnswer {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

const QUOTA_CODES = new Set([
  "token_quota_exhausted",
  "insufficient_user_quota",
  "insufficient_team_quota",
  "insufficient_token_quota",
  "insufficient_quota",
  "storage_quota_exceeded",
]);

const ANTHROPIC_TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  503: "overloaded_error",
  504: "timeout_error",
  529: "overloaded_error",
};

const GEMINI_STATUSES: Readonly<Record<number, string>> = {
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  499: "CANCELLED",
  501: "UNIMPLEMENTED",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};

/** Builds a whole error answer in the client's protocol. */
export function errorAnswer(dialect: ErrorDialect, error: AppError, requestId: string): ErrorAnswer {
  const status = statusFor(dialect, error);
  const retryAfter = error.retryAfterMs;
  const stopsRetries = !error.retryable && (status >= 500 || status === 408 || status === 409 || status === 429);
  return {
    status,
    headers: {
      "content-type": "application/json; charset=utf-8",
      ...error.headers,
      ...(dialect === "anthropic" && error.headers && anthropicLimits(error.headers)),
      ...(retryAfter !== undefined && {
        "retry-after": String(Math.max(1, Math.ceil(retryAfter / 1000))),
        "retry-after-ms": String(Math.max(0, Math.round(retryAfter))),
      }),
      ...((stopsRetries || isQuota(error)) && { "x-should-retry": "false" }),
    },
    body: Buffer.from(JSON.stringify(envelope(dialect, error, status, requestId))),
  };
}

/** Returns the limits of the `x-ratelimit-…` headers under the names of Anthropic's API, whose times are dates. */
export function anthropicLimits(headers: Readonly<Record<string, string>>): Record<string, string> {
  const reported: Record<string, string> = {};
  for (const kind of ["requests", "tokens"]) {
    const limit = headers[`x-ratelimit-limit-${kind}`];
    if (limit === undefined) continue;
    const seconds = Number.parseInt(headers[`x-ratelimit-reset-${kind}`] ?? "0", 10);
    reported[`anthropic-ratelimit-${kind}-limit`] = limit;
    reported[`anthropic-ratelimit-${kind}-remaining`] = headers[`x-ratelimit-remaining-${kind}`] ?? "0";
    reported[`anthropic-ratelimit-${kind}-reset`] = new Date(systemClock.now() + seconds * 1000).toISOString();
  }
  return reported;
}

/**
 * Returns all events of a streamed response that fails at once; undefined if the protocol answers with a status.
 * Clients of the Responses API look for a context overflow in `response.failed` and give up on a 400.
 */
export function failedStream(
  dialect: ErrorDialect,
  error: AppError,
  requestId: string,
  model: string,
): Buffer | undefined {
  if (dialect !== "openai-responses" || !isOverflow(error)) return undefined;
  const response: JsonObject = {
    id: `resp_${requestId}`,
    object: "response",
    created_at: Math.floor(systemClock.now() / 1000),
    model,
    output: [],
  };
  const created = {
    type: "response.created",
    response: { ...response, status: "in_progress" },
    sequence_number: 0,
  };
  const head = encodeBlock(JSON.stringify(created), "response.created");
  return Buffer.concat([Buffer.from(head), errorFrame(dialect, error, requestId, { sequence: 1, response })]);
}

/** Builds the last event of a stream that fails after its head. No terminator follows. */
export function errorFrame(
  dialect: ErrorDialect,
  error: AppError,
  requestId: string,
  options: ErrorFrameOptions = {},
): Buffer {
  const status = statusFor(dialect, error);
  if (dialect === "openai-responses") return responsesFrame(error, status, requestId, options);
  const body = envelope(dialect, error, status, requestId);
  // Playgrounds read the choices of every event.
  const json = JSON.stringify(dialect === "openai-playground" ? { choices: [], ...body } : body);
  return Buffer.from(encodeBlock(json, dialect === "anthropic" ? "error" : undefined));
}

/**
 * True if the connection must be broken after an error: older clients of these protocols notice a failure in the middle
 * of a stream only by that.
 */
export function breaksAfterError(dialect: ErrorDialect): boolean {
  return dialect === "gemini";
}

function statusFor(dialect: ErrorDialect, error: AppError): number {
  if (dialect === "anthropic") return isQuota(error) && error.status === 403 ? 402 : error.status;
  return error.status === 529 ? 503 : error.status;
}

function isQuota(error: AppError): boolean {
  return error.origin !== "upstream" && error.code !== undefined && QUOTA_CODES.has(error.code);
}

function envelope(dialect: ErrorDialect, error: AppError, status: number, requestId: string): JsonObject {
  switch (dialect) {
    case "openai":
    case "openai-playground":
    case "openai-responses":
      return { error: openaiError(error, status, requestId) };
    case "anthropic":
      return anthropicError(error, status, requestId);
    case "gemini":
      return geminiError(error, status);
    case "midjourney":
      return {
        description: error.message,
        type: "upstream_error",
        code: error.code === "upstream_connect_failed" ? 5 : 4,
      };
    case "suno":
      return { code: error.code ?? "upstream_error", message: error.message, data: null };
  }
}

/**
 * Returns the upstream's message, or the one by which clients of the protocol recognise that the prompt is too long.
 */
function formatErrorMessage(dialect: ErrorDialect, error: AppError): string {
  return isOverflow(error) ? overflowMessage(dialect, error.message) : error.message;
}

function isOverflow({ origin, code }: AppError): boolean {
  return origin === "upstream" && code === CONTEXT_OVERFLOW;
}

function openaiError(error: AppError, status: number, requestId: string): JsonObject {
  return {
    message: withRequestId(formatErrorMessage("openai", error), requestId),
    type: openaiType(error, status),
    param: error.param ?? null,
    code: error.code ?? null,
    ...(error.entity && { entity: { ...error.entity } }),
    ...(error.innerError && { innererror: { ...error.innerError } as JsonObject }),
  };
}

function withRequestId(message: string, requestId: string): string {
  return `${message} (request id: ${requestId})`;
}

/**
 * Returns the error type. An upstream's own type is preserved. Local errors never use authentication_error,
 * permission_error or forbidden: a compatible gateway that calls this one would disable its channel for a client's
 * mistake.
 */
function openaiType(error: AppError, status: number): string {
  if (error.type !== undefined) return error.type;
  if (isQuota(error)) return "insufficient_quota";
  if (status === 429) return "rate_limit_error";
  return status >= 500 && status !== 501 ? "server_error" : "invalid_request_error";
}

function anthropicError(error: AppError, status: number, requestId: string): JsonObject {
  const type = ANTHROPIC_TYPES[status] ?? (status >= 500 && status !== 501 ? "api_error" : "invalid_request_error");
  return {
    type: "error",
    error: compact({
      type,
      message: formatErrorMessage("anthropic", error),
      details: error.details && { ...error.details },
    }),
    request_id: requestId,
  };
}

function geminiError(error: AppError, status: number): JsonObject {
  const name = GEMINI_STATUSES[status] ?? (status >= 500 ? "INTERNAL" : "INVALID_ARGUMENT");
  const reason = error.code === "invalid_api_key" ? "API_KEY_INVALID" : error.code?.toUpperCase();
  return {
    error: {
      code: status,
      message: formatErrorMessage("gemini", error),
      status: name,
      ...(reason !== undefined && {
        details: [
          { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason, domain: "fairway" },
          ...retryInfo(error),
        ],
      }),
    },
  };
}

/** Returns the member in which Google's own clients look for the wait; they read no header. */
function retryInfo({ retryAfterMs }: AppError): JsonObject[] {
  if (retryAfterMs === undefined) return [];
  const retryDelay = `${Math.max(1, Math.ceil(retryAfterMs / 1000))}s`;
  return [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay }];
}

function responsesFrame(error: AppError, status: number, requestId: string, options: ErrorFrameOptions): Buffer {
  const message = withRequestId(formatErrorMessage("openai-responses", error), requestId);
  const code = error.code ?? openaiType(error, status);
  const sequence = options.sequence ?? 0;
  const frame = { type: "error", code, message, param: error.param ?? null, sequence_number: sequence };
  const blocks = encodeBlock(JSON.stringify(frame), "error");
  if (options.response === undefined) return Buffer.from(blocks);
  const failed = {
    type: "response.failed",
    response: { ...options.response, status: "failed", error: { code, message } },
    sequence_number: sequence + 1,
  };
  return Buffer.from(blocks + encodeBlock(JSON.stringify(failed), "response.failed"));
}
