/** How a relayed request ended; label of `fairway_relay_requests_total`. */
export type Outcome =
  | "ok"
  | "client_error"
  | "auth"
  | "quota"
  | "rate_limited"
  | "no_channel"
  | "model_not_found"
  | "upstream_error"
  | "timeout"
  | "client_abort"
  /** A shutdown of this process ended it. */
  | "server_shutdown"
  | "internal";

const BY_CODE: ReadonlyMap<string, Outcome> = new Map<string, Outcome>([
  ["insufficient_user_quota", "quota"],
  ["insufficient_team_quota", "quota"],
  ["insufficient_token_quota", "quota"],
  ["token_quota_exhausted", "quota"],
  ["budget_exceeded", "quota"],
  ["rate_limit_exceeded", "rate_limited"],
  ["concurrency_limit_exceeded", "rate_limited"],
  ["no_available_channel", "no_channel"],
  ["model_not_found", "model_not_found"],
  ["client_closed_request", "client_abort"],
  ["server_shutdown", "server_shutdown"],
]);

/** Statuses with which upstreams refuse a request that is invalid for every caller. */
const OF_CLIENTS: ReadonlySet<number> = new Set([400, 413, 415, 422]);

/**
 * Returns the outcome of a request that ended with an error of `code` and `status`; an upstream's code may equal ours.
 */
export function classifyOutcome(error: {
  readonly code: string | undefined;
  readonly status: number;
  readonly origin: string;
}): Outcome {
  if (error.origin === "upstream") return classifyUpstreamError(error);
  const known = error.code === undefined ? undefined : BY_CODE.get(error.code);
  if (known) return known;
  if (error.status === 401 || error.status === 403) return "auth";
  return error.status < 500 ? "client_error" : "internal";
}

function classifyUpstreamError({
  code,
  status,
}: {
  readonly code: string | undefined;
  readonly status: number;
}): Outcome {
  if (code === "upstream_timeout") return "timeout";
  return OF_CLIENTS.has(status) ? "client_error" : "upstream_error";
}
