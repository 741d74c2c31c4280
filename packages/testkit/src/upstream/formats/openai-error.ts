import type { Json } from "../reply.ts";

const CODES: Readonly<Record<number, readonly [type: string, code: string | null]>> = {
  400: ["invalid_request_error", null],
  401: ["invalid_request_error", "invalid_api_key"],
  402: ["insufficient_quota", "insufficient_quota"],
  403: ["invalid_request_error", "unsupported_country_region_territory"],
  404: ["invalid_request_error", "model_not_found"],
  429: ["requests", "rate_limit_exceeded"],
};

export function openaiError(status: number, message: string): Json {
  const [type, code] = CODES[status] ?? ["server_error", null];
  return { error: { message, type, param: null, code } };
}
