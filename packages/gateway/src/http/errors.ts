import { MESSAGE_CODES, messageText, type Endpoint, type MessageKey } from "@fairway/wire";
import { AppError } from "../lib/app-error.ts";
import { Refusal } from "../lib/refusal.ts";
import { isFull, isReadOnly, isUnstorable } from "../storage/errors.ts";
import { LogUnreachable } from "../storage/log-reads.ts";

export interface Failure {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly retryAfterSeconds: number | undefined;
  /** True for a defect or an outage, whose cause is logged. */
  readonly isFault: boolean;
}

/** Clients that ask again this often find the log soon after it is back. */
const LOG_RETRY_SECONDS = 5;

/**
 * Converts anything that a management call throws to its answer; unknown errors become `internal_error` without
 * internals.
 */
export function toFailure(thrown: unknown, endpoint: Endpoint | undefined, requestId: string): Failure {
  if (thrown instanceof LogUnreachable) {
    const refusal = new Refusal("log_unreachable", { retryAfterSeconds: LOG_RETRY_SECONDS, cause: thrown });
    return toFailure(refusal, endpoint, requestId);
  }
  if (endpoint?.access === "key" && !(thrown instanceof Refusal))
    return openAiFailure(AppError.from(thrown), requestId);
  if (thrown instanceof Refusal) {
    return {
      status: thrown.status,
      body: { success: false, message: thrown.message, code: thrown.code, field: thrown.field, ...thrown.siblings },
      retryAfterSeconds: thrown.retryAfterSeconds,
      isFault: thrown.status >= 500,
    };
  }
  const relayed = thrown instanceof AppError ? relayFailure(thrown) : undefined;
  if (relayed) return relayed;
  const key = findDatabaseMessage(thrown);
  if (key) return toFailure(new Refusal(key, { cause: thrown }), endpoint, requestId);
  return { ...catalogueFailure("internal_error"), isFault: true };
}

/** Returns errors of the relay that callers see unchanged. */
function relayFailure({ message, code, status, origin, retryAfterMs }: AppError): Failure | undefined {
  const body = { success: false, message, code };
  const retryAfterSeconds = retryAfterMs === undefined ? undefined : Math.ceil(retryAfterMs / 1000);
  if (origin === "client") return { status: 200, body, retryAfterSeconds, isFault: false };
  const isOutage = code === "balances_unavailable";
  const isBusy = code === "server_shutdown" || code === "bodies_full";
  return isOutage || isBusy ? { status, body, retryAfterSeconds, isFault: isOutage } : undefined;
}

/** Returns the failures of the database that a caller may know about. */
function findDatabaseMessage(thrown: unknown): MessageKey | undefined {
  if (isUnstorable(thrown)) return "invalid_parameter";
  if (isFull(thrown)) return "database_disk_full";
  return isReadOnly(thrown) ? "database_read_only" : undefined;
}

function catalogueFailure(key: MessageKey): Omit<Failure, "isFault"> {
  const body = { success: false, message: messageText(key), code: MESSAGE_CODES[key] };
  return { status: 500, body, retryAfterSeconds: undefined };
}

/** Answers the calls of B15, whose clients are those of the relay, in the OpenAI error shape. */
function openAiFailure(error: AppError, requestId: string): Failure {
  const type =
    error.status >= 500 ? "server_error" : error.status === 429 ? "rate_limit_error" : "invalid_request_error";
  return {
    status: error.status,
    body: {
      error: {
        message: `${error.message} (request id: ${requestId})`,
        type: error.type ?? type,
        param: error.param ?? null,
        code: error.code ?? null,
      },
    },
    retryAfterSeconds: error.retryAfterMs === undefined ? undefined : Math.ceil(error.retryAfterMs / 1000),
    isFault: error.status >= 500,
  };
}

/** Returns the answer for a path or method that does not exist under `/api`, readable for both kinds of clients. */
export function unknownUrl(method: string, path: string, hint?: string): Failure {
  const known = messageText("unknown_url", { method, path });
  const message = hint === undefined ? known : `${known}: ${hint}`;
  return {
    status: 404,
    body: {
      success: false,
      message,
      code: MESSAGE_CODES.unknown_url,
      error: { message, type: "invalid_request_error", param: "", code: "" },
    },
    retryAfterSeconds: undefined,
    isFault: false,
  };
}
