import { CONTEXT_OVERFLOW, isContextOverflow } from "../../dialects/core/context-overflow.ts";
import { AppError } from "../../lib/app-error.ts";
import type { ChannelRecord } from "../../providers/core/types.ts";
import type { ErrorClass, UpstreamError } from "../../providers/core/failed-answer.ts";
import type { Outcome } from "../request/outcome.ts";

/** A failed attempt: the client's error, and the consequences for retries, cooldown and the channel. */
export interface Failure {
  readonly error: AppError;
  readonly outcome: Outcome;
  /** The upstream's own failure, or an answer that only refuses; undefined if it gave no answer that could be read. */
  readonly class?: ErrorClass | "refusal";
  readonly retry: boolean;
  /** The same channel may be tried again if no other is left. */
  readonly isTransient: boolean;
  /** Reason to switch the channel off; undefined if the channel is not the cause. */
  readonly disable: string | undefined;
  /** How long the key rests, in milliseconds; undefined if it does not rest. */
  readonly restMs: number | undefined;
  /** The upstream's own message, masked; for operators. */
  readonly said?: string;
  /** The operator's account at the upstream cannot pay. */
  readonly isOutOfCredit?: boolean;
  /** The operator's key or account is the cause: an upstream's 401, 402 or 403, or an account without credit. */
  readonly isAccountRefused?: boolean;
  /** The key has reached a rate limit; the upstream itself works. */
  readonly isLimited: boolean;
  /** The upstream has not been called. */
  readonly isUnsent: boolean;
  /** At most one retry for failures of this kind (a stream that ended before it began). */
  readonly retryOnce: boolean;
}

const NOT_BLAMED = {
  disable: undefined,
  restMs: undefined,
  isLimited: false,
  isUnsent: false,
  retryOnce: false,
} as const;
/** Statuses that the client caused. */
const OUTCOMES: Readonly<Partial<Record<ErrorClass, Outcome>>> = {
  timeout: "timeout",
  bad_request: "client_error",
  content_filter: "client_error",
};
const TRANSIENT_CLASSES: ReadonlySet<ErrorClass> = new Set(["rate_limit", "overloaded", "server", "timeout"]);
/** Statuses that the next channel would most likely return too, or after which no time is left. */
const NEVER_RETRIED: ReadonlySet<number> = new Set([400, 408, 504, 524]);

/** Errors after which another kind of channel may still serve. */
const ELSEWHERE: ReadonlySet<string | undefined> = new Set([
  "unsupported_parameter",
  "unsupported_by_channel",
  "item_not_found",
]);

/** Returns the failure for an upstream's error answer, whose message is masked already. */
export function refusedByUpstream(
  upstreamError: UpstreamError,
  channel: ChannelRecord,
  defaultRestMs: number,
): Failure {
  const mapped = channel.statusMapping.get(upstreamError.status);
  const status = mapped ?? upstreamError.status;
  return {
    error: clientError(upstreamError, status, mapped !== undefined),
    outcome: OUTCOMES[upstreamError.class] ?? "upstream_error",
    class: upstreamError.class,
    retry: mapped === undefined ? upstreamError.retry : retriesStatus(status),
    isTransient: TRANSIENT_CLASSES.has(upstreamError.class),
    disable: upstreamError.disable ? upstreamError.message : undefined,
    restMs: calculateRestMs(upstreamError, defaultRestMs),
    isLimited: upstreamError.class === "rate_limit",
    isOutOfCredit: upstreamError.class === "out_of_credit",
    isAccountRefused: isAccountRefused(upstreamError),
    said: upstreamError.message,
    isUnsent: false,
    retryOnce: false,
  };
}

const ACCOUNT_STATUSES: ReadonlySet<number> = new Set([401, 402, 403]);

/** True if an upstream refused the operator's key or account. A filtered text is the client's problem. */
export function isAccountRefused({ class: found, status }: Pick<UpstreamError, "class" | "status">): boolean {
  if (found === "bad_key" || found === "out_of_credit") return true;
  return found !== "content_filter" && ACCOUNT_STATUSES.has(status);
}

/** Rest of an account without credit whose channel is not disabled: added credit takes effect within this time. */
const OUT_OF_CREDIT_REST_MS = 300_000;

/** The key rests after too many calls and without credit; after an overload only if the upstream says how long. */
function calculateRestMs(
  { class: found, disable, retryAfterMs }: UpstreamError,
  defaultRestMs: number,
): number | undefined {
  if (found === "out_of_credit") return disable ? (retryAfterMs ?? OUT_OF_CREDIT_REST_MS) : undefined;
  if (found === "rate_limit") return retryAfterMs ?? defaultRestMs;
  return found === "overloaded" || found === "server" ? retryAfterMs : undefined;
}

/**
 * An upstream's 401, 402 and 403 concern the operator's key, and an empty account is the operator's problem, whatever
 * the status. A filtered text is the client's problem, whatever the status.
 */
function clientError(upstreamError: UpstreamError, status: number, isMapped: boolean): AppError {
  if (!isMapped && (upstreamError.class === "out_of_credit" || status === 402))
    return new AppError("upstream_billing_error");
  const isKeys =
    upstreamError.class === "bad_key" || (upstreamError.class !== "content_filter" && [401, 403].includes(status));
  if (!isMapped && isKeys) return new AppError("upstream_auth_error");
  if (isOverflow(upstreamError))
    return AppError.upstream({
      status: isMapped ? status : 400,
      message: upstreamError.message,
      type: "invalid_request_error",
      code: CONTEXT_OVERFLOW,
      param: upstreamError.param,
      retryable: false,
    });
  return AppError.upstream({
    status: status >= 400 && status <= 599 ? status : 502,
    message: upstreamError.message,
    type: upstreamError.type,
    code: upstreamError.code,
    param: upstreamError.param,
    retryable: upstreamError.retry,
    retryAfterMs: upstreamError.retryAfterMs,
    innerError: upstreamError.innerError,
  });
}

function isOverflow({ class: found, message, type, code }: UpstreamError): boolean {
  return (found === "bad_request" || found === "server") && isContextOverflow(message, type, code);
}

function retriesStatus(status: number): boolean {
  return !NEVER_RETRIED.has(status);
}

/** No status line arrived: the connection was refused or reset, the name or TLS failed, or no answer came in time. */
export function unreachable(error: Error): Failure {
  if (isTimeout(error))
    return {
      ...NOT_BLAMED,
      error: new AppError("upstream_timeout", { cause: error }),
      outcome: "timeout",
      retry: isConnectTimeout(error),
      isTransient: true,
    };
  return {
    ...NOT_BLAMED,
    error: new AppError("upstream_connect_failed", { cause: error }),
    outcome: "upstream_error",
    retry: true,
    isTransient: true,
  };
}

/** The status is 200, but no client of the protocol could read the body, or the body reports a failed answer. */
export function unreadable(cause: unknown): Failure {
  return {
    ...NOT_BLAMED,
    error: isUpstreamError(cause) ? cause : new AppError("upstream_invalid_response", { cause }),
    outcome: "upstream_error",
    retry: true,
    isTransient: true,
  };
}

/** The model refused without a word, and another one may answer. */
export function refusedAnswer(): Failure {
  return {
    ...NOT_BLAMED,
    error: AppError.upstream({
      status: 400,
      message: "The model refused to answer.",
      type: "invalid_request_error",
      code: "content_filter",
      param: undefined,
      retryable: false,
    }),
    outcome: "client_error",
    class: "refusal",
    retry: false,
    isTransient: false,
  };
}

/** Returns the failure of a stream that ended before any content. */
export function emptyStream(): Failure {
  return {
    ...NOT_BLAMED,
    error: new AppError("upstream_stream_interrupted"),
    outcome: "upstream_error",
    retry: true,
    isTransient: true,
    retryOnce: true,
  };
}

/** The upstream sends keep-alives but no content. */
export class NoContentError extends Error {
  override readonly name = "NoContentError";
}

/** Returns the failure of a connection that broke after the status line and before any content. */
export function brokenStream(error: Error): Failure {
  const isSilent = isIdleTimeout(error);
  const isLate = isSilent || error instanceof NoContentError;
  return {
    ...NOT_BLAMED,
    error: new AppError(isLate ? "upstream_timeout" : "upstream_stream_interrupted", { cause: error }),
    outcome: isLate ? "timeout" : "upstream_error",
    retry: !isSilent,
    isTransient: true,
  };
}

/** Returns the failure to build a request: nothing was sent, and another kind of channel may succeed. */
export function notBuilt(error: AppError): Failure {
  const isUnsupported = ELSEWHERE.has(error.code);
  return {
    ...NOT_BLAMED,
    isUnsent: true,
    error,
    outcome: error.origin === "client" ? "client_error" : "internal",
    retry: isUnsupported || error.origin === "upstream",
    isTransient: false,
  };
}

/** True for the error that a conversion throws if the answer failed upstream. */
export function isUpstreamError(error: unknown): error is AppError {
  return error instanceof AppError && error.origin === "upstream";
}

/** True if the upstream was silent for too long. */
export function isIdleTimeout(error: Error): boolean {
  return readErrorCode(error) === "UND_ERR_BODY_TIMEOUT";
}

function isConnectTimeout(error: Error): boolean {
  return readErrorCode(error) === "UND_ERR_CONNECT_TIMEOUT";
}

function isTimeout(error: Error): boolean {
  return readErrorCode(error) === "UND_ERR_HEADERS_TIMEOUT" || isConnectTimeout(error);
}

function readErrorCode(error: Error): string | undefined {
  return "code" in error && typeof error.code === "string" ? error.code : undefined;
}
