/**
 * The party at fault, which decides the log level, whether a channel is blamed, and whether another channel is tried.
 */
export type ErrorOrigin = "client" | "gateway" | "upstream";

interface ErrorEntry {
  readonly status: number;
  /** The error's values replace the placeholders `{name}`. */
  readonly message: string;
  readonly origin?: ErrorOrigin;
  /** Default: true from 500 on and for 408, 409 and 429. */
  readonly retryable?: boolean;
}

/** Every error code of the gateway itself, with its HTTP status and its text. */
export const ERRORS = {
  missing_api_key: { status: 401, message: 'No API key was provided. Send it as "Authorization: Bearer sk-…".' },
  invalid_api_key: { status: 401, message: "The API key is not valid." },
  token_disabled: { status: 401, message: "This API key is disabled." },
  token_expired: { status: 401, message: "This API key has expired." },
  token_quota_exhausted: { status: 401, message: "The quota of this API key is used up." },
  user_disabled: { status: 403, message: "The account of this key is disabled." },
  team_disabled: { status: 403, message: "The team {team} of this key is disabled." },
  tag_not_allowed: { status: 400, message: "The value {value} of tag {key} is not allowed for this key." },
  tag_required: { status: 400, message: "This key needs the {what} of each call: send it in the header {header}." },
  tag_blocked: { status: 403, message: "Calls of the tag {name} are blocked for this key.", retryable: false },
  end_user_blocked: {
    status: 403,
    message: "Calls of the end user {name} are blocked for this key.",
    retryable: false,
  },
  ip_not_allowed: { status: 403, message: "Your address is not on this key's allow list." },
  group_not_allowed: { status: 403, message: "The group {group} is not available to this key." },
  model_not_allowed: { status: 403, message: "This key may not use the model {model}." },
  unauthorized: { status: 401, message: "Not logged in or login has expired, please log in again!" },
  user_mismatch: { status: 401, message: "The New-Api-User header does not match the logged-in user." },
  access_token_not_supported: { status: 400, message: "The playground needs a console session, not an access token." },
  channel_pin_forbidden: { status: 403, message: "Only administrators may choose a channel." },
  invalid_channel_id: { status: 400, message: "The chosen channel does not exist." },
  channel_not_found: { status: 400, message: "The chosen channel does not exist." },
  channel_disabled: { status: 403, message: "The chosen channel is disabled." },
  model_required: { status: 400, message: "The request names no model." },
  invalid_model: { status: 400, message: "The model name has characters that are not allowed." },
  invalid_json: { status: 400, message: "The body is not valid JSON: {position}." },
  invalid_request: { status: 400, message: "{reason}" },
  invalid_query: { status: 400, message: "query is required." },
  invalid_documents: { status: 400, message: "documents is required." },
  invalid_max_tokens: { status: 400, message: "{field} must be between 0 and 1073741824." },
  unsupported_parameter: { status: 400, message: "{param} cannot be used with this model here." },
  unsupported_by_channel: { status: 400, message: "The channel cannot serve this endpoint." },
  sensitive_words_detected: { status: 400, message: "The prompt was refused by the content policy." },
  /** Refused by the operator's webhook. */
  prompt_blocked: { status: 400, message: "The prompt was refused by the content policy.", retryable: false },
  answer_blocked: { status: 400, message: "The answer was refused by the content policy.", retryable: false },
  guardrail_unavailable: {
    status: 503,
    message: "The content policy cannot be checked now; try again in a moment.",
    origin: "gateway",
  },
  insufficient_user_quota: {
    status: 403,
    message: "Your balance is too low: {need} needed, {have} left.",
    retryable: false,
  },
  insufficient_team_quota: {
    status: 403,
    message: "The balance of team {team} is too low: {need} needed, {have} left.",
    retryable: false,
  },
  insufficient_token_quota: {
    status: 403,
    message: "The key's quota is too low: {need} needed, {have} left.",
    retryable: false,
  },
  /** A budget that an administrator set. */
  budget_exceeded: {
    status: 403,
    message: "The {period} budget of {entity} is used up; the next window begins at {time}.",
    retryable: false,
  },
  /** A hard stop within a running stream. */
  insufficient_quota: { status: 403, message: "The quota ran out while the answer was written.", retryable: false },
  batches_not_allowed: { status: 403, message: "Batches are not available to the group {group}." },
  batch_limit_exceeded: {
    status: 429,
    message: "{open} of {limit} batches of this account are open; wait for one to end.",
  },
  batch_queue_full: {
    status: 429,
    message: "The upstreams for this batch have as many open batches as they take; send it again when some have ended.",
  },
  batch_not_ready: { status: 409, message: "The batch {id} is not ready for this call; try again later." },
  idempotency_conflict: {
    status: 409,
    message: "Another request with the same Idempotency-Key had a different body; send a new key.",
    retryable: false,
  },
  rate_limit_exceeded: { status: 429, message: "Too many requests; retry after {seconds} s." },
  concurrency_limit_exceeded: { status: 429, message: "Too many requests; retry after {seconds} s." },
  upstream_saturated: {
    status: 429,
    message: "The upstreams of group {group} are saturated; try again later.",
    origin: "upstream",
  },
  model_not_found: { status: 404, message: "The model {model} does not exist in group {group}." },
  no_available_channel: {
    status: 503,
    message: "No channel for {model} in group {group} is available now.",
    origin: "gateway",
  },
  request_too_large: { status: 413, message: "The body exceeds {limit} bytes." },
  json_too_large: {
    status: 413,
    message: "The JSON of the body exceeds {limit} bytes without its inline files; send less text in one request.",
  },
  too_many_values: {
    status: 400,
    message: "The body holds too many JSON values (limit {limit}, an object or list counts 9); split the request.",
  },
  bodies_full: { status: 503, message: "Too many request bodies are being read; try again in a moment." },
  request_timeout: { status: 408, message: "The body did not arrive in time." },
  invalid_encoding: { status: 400, message: "The body does not match its Content-Encoding." },
  unsupported_encoding: {
    status: 415,
    message: "Content-Encoding {encoding} is not supported; send gzip, br, deflate, zstd or no encoding.",
  },
  client_closed_request: { status: 499, message: "The client closed the request.", retryable: false },
  unknown_url: { status: 404, message: "Invalid URL ({method} {path})" },
  method_not_allowed: { status: 405, message: "The method {method} is not allowed for {path}." },
  api_not_implemented: { status: 501, message: "This API is not implemented.", retryable: false },
  response_not_found: { status: 404, message: "The response {id} does not exist." },
  item_not_found: {
    status: 404,
    message: "The item {id} is not stored here, or no longer: send complete items instead of their ids (store: false).",
  },
  file_not_found: { status: 404, message: "No such File object: {id}" },
  /** Stored at an account that the gateway no longer has. */
  file_lost: {
    status: 410,
    message: "The file {id} was stored with a channel or key that no longer exists. Upload it again.",
    retryable: false,
  },
  file_unavailable: {
    status: 400,
    message: "The file {id} is stored with a channel that is not available now.",
  },
  file_not_on_channel: {
    status: 400,
    message:
      "The file {id} is stored with an upstream that does not serve {model}. Upload it again with X-Fairway-Model: {model}.",
  },
  files_on_different_channels: {
    status: 400,
    message:
      "The files {id} and {other} are stored with different upstreams. Upload them again with X-Fairway-Model: {model}.",
  },
  files_not_allowed: { status: 403, message: "Users of group {group} store no files here.", retryable: false },
  storage_quota_exceeded: {
    status: 403,
    message: "Your stored files use all the room that they may.",
    retryable: false,
  },
  /** The disk of this process that holds uploads on their way. */
  spool_full: { status: 503, message: "Too many files are being uploaded; try again in a moment.", origin: "gateway" },
  batch_line_too_large: { status: 400, message: "The first line of the file exceeds {limit} bytes." },
  batch_model_mapped: {
    status: 400,
    message:
      "The channel of the file serves {model} under another name; upload the file again, so that its lines get that name.",
  },
  public_url_not_set: {
    status: 400,
    message: "This gateway does not know its own address. Ask the operator to set FAIRWAY_PUBLIC_URL or ServerAddress.",
    retryable: false,
  },
  cache_not_found: { status: 404, message: "The cached content {id} does not exist." },
  object_not_found: { status: 404, message: "The {kind} {id} does not exist." },
  task_not_found: { status: 404, message: "The task {id} does not exist." },
  previous_response_unavailable: {
    status: 400,
    message: "The channel that holds the previous response is not available.",
  },
  model_price_error: { status: 500, message: "No price is configured for {model}.", retryable: false },
  surcharge_not_priced: {
    status: 400,
    message: "{what} has no price for {model} here. Leave it out, or ask the operator to set {key} in {option}.",
    retryable: false,
  },
  invalid_model_mapping: { status: 500, message: "The channel's model mapping is invalid." },
  model_mapping_cycle: { status: 500, message: "The channel's model mapping is invalid." },
  convert_request_failed: { status: 500, message: "The request could not be converted for the upstream." },
  upstream_connect_failed: { status: 502, message: "The upstream could not be reached.", origin: "upstream" },
  upstream_timeout: { status: 504, message: "The upstream did not answer in time.", origin: "upstream" },
  upstream_invalid_response: {
    status: 502,
    message: "The upstream's answer could not be read.",
    origin: "upstream",
  },
  upstream_invalid_stream: { status: 502, message: "The upstream's stream could not be read.", origin: "upstream" },
  upstream_stream_interrupted: { status: 502, message: "The upstream ended the stream early.", origin: "upstream" },
  upstream_idle_timeout: { status: 504, message: "The upstream ended the stream early.", origin: "upstream" },
  upstream_auth_error: {
    status: 502,
    message: "The upstream refused the gateway's credentials.",
    origin: "upstream",
  },
  upstream_billing_error: {
    status: 502,
    message: "The gateway's account at the upstream cannot pay for the call.",
    origin: "upstream",
  },
  bad_response_status_code: { status: 502, message: "bad response status code {status}", origin: "upstream" },
  internal_error: { status: 500, message: "Internal error." },
  overloaded: { status: 503, message: "The gateway is at capacity; try again in a moment." },
  limits_unavailable: { status: 503, message: "Limits cannot be checked now; try again in a moment." },
  budgets_unavailable: { status: 503, message: "Budgets cannot be checked now; try again in a moment." },
  balances_unavailable: { status: 503, message: "Balances cannot be checked now; try again in a moment." },
  responses_unavailable: { status: 503, message: "Stored responses cannot be read now; try again in a moment." },
  server_shutdown: { status: 503, message: "The gateway is restarting." },
  unsafe_url: { status: 400, message: "A URL in the request is not allowed." },
  file_fetch_failed: { status: 400, message: "A URL in the request could not be read." },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERRORS;

export interface AppErrorOptions {
  /** Values for the placeholders of the message. */
  readonly values?: Readonly<Record<string, string | number>>;
  /** Replaces the message of the table. */
  readonly message?: string;
  readonly status?: number;
  /** Name of the request field at fault. */
  readonly param?: string | undefined;
  /** Named in the envelope of OpenAI; its scope is the `param`. */
  readonly entity?: ErrorEntity | undefined;
  readonly origin?: ErrorOrigin;
  readonly retryable?: boolean;
  readonly retryAfterMs?: number | undefined;
  /** Extra members of the Anthropic envelope (`error.details`). */
  readonly details?: Readonly<Record<string, string>>;
  /** Extra headers of the answer, lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** What a limit or a refusal is about: a key, account, team or other thing. */
export interface ErrorEntity {
  readonly scope: string;
  readonly name: string;
}

/** An upstream failure, already masked and mapped. */
export interface UpstreamFailure {
  /** HTTP status for the client. */
  readonly status: number;
  readonly message: string;
  readonly type: string | undefined;
  readonly code: string | undefined;
  readonly param: string | undefined;
  readonly retryable: boolean;
  readonly retryAfterMs?: number | undefined;
  /** `innererror` of the OpenAI envelope. */
  readonly innerError?: Readonly<Record<string, unknown>> | undefined;
}

/** The owner of the refused call. */
export interface ErrorOwner {
  readonly userId: number;
  readonly username: string;
  readonly tokenId: number;
  readonly tokenName: string;
  readonly group: string;
  /** First and last characters of the key; set while several keys of the token work. */
  readonly keyHint?: string;
  /** Who used the key of a team; absent for keys of persons. */
  readonly actor?: string | undefined;
}

/** A failure that a caller may read: `message` contains nothing internal; internal details belong in `cause`. */
export class AppError extends Error {
  /** A code of `ERRORS`, or the upstream's own code for errors that are passed on. */
  readonly code: ErrorCode | (string & {}) | undefined;
  readonly status: number;
  readonly param: string | undefined;
  readonly entity: ErrorEntity | undefined;
  readonly origin: ErrorOrigin;
  /** Error type as the upstream named it; undefined means "by status". */
  readonly type: string | undefined;
  /** False if the same call cannot succeed later either. */
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly details: Readonly<Record<string, string>> | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** `innererror` of an upstream, without free text. */
  readonly innerError: Readonly<Record<string, unknown>> | undefined;
  /** True if the message comes from an upstream and may repeat the client's text. */
  readonly isQuoted: boolean;
  /** Set if the owner of a refused call is known before the relay has read the call. */
  owner: ErrorOwner | undefined;

  constructor(code: ErrorCode, options: AppErrorOptions = {}) {
    const entry: ErrorEntry = ERRORS[code];
    super(options.message ?? fill(entry.message, options), { cause: options.cause });
    this.name = "AppError";
    this.code = code;
    this.status = options.status ?? entry.status;
    this.param = options.param ?? options.entity?.scope;
    this.entity = options.entity;
    this.origin = options.origin ?? entry.origin ?? (entry.status < 500 ? "client" : "gateway");
    this.type = undefined;
    this.retryable = options.retryable ?? entry.retryable ?? isTransient(this.status);
    this.retryAfterMs = options.retryAfterMs;
    this.details = options.details;
    this.headers = options.headers;
    this.innerError = undefined;
    this.isQuoted = false;
  }

  /** Creates the error for a client from an upstream's own error. */
  static upstream(failure: UpstreamFailure, cause?: unknown): AppError {
    const error = new AppError("bad_response_status_code", { ...failure, origin: "upstream", cause });
    return Object.assign(error, {
      code: failure.code,
      type: failure.type,
      innerError: failure.innerError,
      isQuoted: true,
    });
  }

  /** Returns the same failure for a call that would fail again in the same way. */
  asFinal(): AppError {
    const { message, status, param, origin, retryAfterMs, details, headers, cause } = this;
    const more = { ...(details && { details }), ...(headers && { headers }) };
    const options = { message, status, param, origin, retryable: false, retryAfterMs, ...more, cause };
    return Object.assign(new AppError("bad_response_status_code", options), {
      code: this.code,
      type: this.type,
      innerError: this.innerError,
      isQuoted: this.isQuoted,
    });
  }

  /** Converts anything thrown to an AppError for a call of that owner. */
  static of(thrown: unknown, owner: ErrorOwner): AppError {
    const error = AppError.from(thrown);
    const { userId, username, tokenId, tokenName, group, keyHint, actor } = owner;
    error.owner ??= { userId, username, tokenId, tokenName, group, actor, ...(keyHint !== undefined && { keyHint }) };
    return error;
  }

  /** Converts anything thrown to an AppError; unknown values become `internal_error` with the original as cause. */
  static from(thrown: unknown): AppError {
    return thrown instanceof AppError ? thrown : new AppError("internal_error", { cause: thrown });
  }
}

/** Returns the error for one missing or wrong field of a request. */
export function invalidRequest(param: string, reason: string): AppError {
  return new AppError("invalid_request", { param, values: { reason } });
}

/**
 * Returns the error for a field that a conversion cannot preserve without changing the request; `cure` is a sentence.
 */
export function unsupportedParameter(param: string, cure?: string): AppError {
  const message = fill(ERRORS.unsupported_parameter.message, { values: { param } });
  return new AppError("unsupported_parameter", { param, message: cure === undefined ? message : `${message} ${cure}` });
}

function isTransient(status: number): boolean {
  return status >= 500 || status === 408 || status === 409 || status === 429;
}

function fill(template: string, options: AppErrorOptions): string {
  const values = options.values ?? {};
  return template.replace(/\{(\w+)\}/g, (place, name: string) =>
    Object.hasOwn(values, name) ? String(values[name]) : place,
  );
}
