import type { JsonObject } from "../../../dialects/core/types.ts";
import type { ErrorClass, UpstreamError } from "../failed-answer.ts";

/** Status of a failure of this class if the vendor itself answered 200. */
export const CLASS_STATUS: Readonly<Record<ErrorClass, number>> = {
  bad_request: 400,
  bad_key: 401,
  out_of_credit: 402,
  rate_limit: 429,
  overloaded: 503,
  not_found: 404,
  content_filter: 400,
  timeout: 504,
  server: 502,
};

const CLASS_BY_STATUS: Readonly<Record<number, ErrorClass>> = {
  401: "bad_key",
  402: "out_of_credit",
  403: "bad_key",
  404: "not_found",
  408: "timeout",
  429: "rate_limit",
  498: "overloaded",
  503: "overloaded",
  504: "timeout",
  524: "timeout",
  529: "overloaded",
};

/** Classifies an error by its status alone. */
export function classifyStatus(status: number): ErrorClass {
  const known = CLASS_BY_STATUS[status];
  if (known) return known;
  return status >= 400 && status < 500 && status !== 499 ? "bad_request" : "server";
}

interface ErrorNames {
  readonly type: string;
  readonly code: string | undefined;
}

const NAMES: Readonly<Record<ErrorClass, ErrorNames>> = {
  bad_request: { type: "invalid_request_error", code: undefined },
  bad_key: { type: "authentication_error", code: "invalid_api_key" },
  out_of_credit: { type: "insufficient_quota", code: "insufficient_quota" },
  rate_limit: { type: "rate_limit_error", code: "rate_limit_exceeded" },
  overloaded: { type: "overloaded_error", code: "overloaded" },
  not_found: { type: "not_found_error", code: "model_not_found" },
  content_filter: { type: "invalid_request_error", code: "content_filter" },
  timeout: { type: "timeout_error", code: "upstream_error" },
  server: { type: "server_error", code: "upstream_error" },
};

/** Returns type and code of the OpenAI protocol, for vendors whose own words mean nothing to its clients. */
export function getErrorNames(errorClass: ErrorClass): ErrorNames {
  return NAMES[errorClass];
}

export interface UpstreamErrorParts {
  readonly class: ErrorClass;
  readonly message: string;
  /** Default: the class's own. */
  readonly status?: number;
  /** Default, together with `code`: the class's own. */
  readonly type?: string | undefined;
  readonly code?: string | undefined;
  readonly param?: string | undefined;
  readonly retry?: boolean;
  readonly disable?: boolean;
  readonly retryAfterMs?: number | undefined;
  readonly innerError?: JsonObject | undefined;
}

/** Builds a verdict; members that are not given follow from its class. */
export function upstreamError(parts: UpstreamErrorParts): UpstreamError {
  const status = parts.status ?? CLASS_STATUS[parts.class];
  const isNamed = parts.type !== undefined || parts.code !== undefined;
  const names = NAMES[parts.class];
  return {
    class: parts.class,
    retry: parts.retry ?? retries(parts.class, status),
    disable: parts.disable ?? (parts.class === "bad_key" || parts.class === "out_of_credit"),
    message: parts.message,
    type: parts.type ?? names.type,
    code: isNamed ? parts.code : names.code,
    param: parts.param,
    status,
    ...(parts.innerError && { innerError: parts.innerError }),
    ...(parts.retryAfterMs === undefined ? {} : { retryAfterMs: parts.retryAfterMs }),
  };
}

function retries(errorClass: ErrorClass, status: number): boolean {
  if (status === 408 || status === 504 || status === 524) return false;
  if (errorClass === "content_filter") return false;
  if (errorClass === "bad_request") return status !== 400 && status !== 422;
  return true;
}
