import { messageText, type Endpoint, type MessageCode } from "@fairway/wire";
import { AppError } from "../lib/app-error.ts";
import { Refusal } from "../lib/refusal.ts";
import { isFull, isReadOnly, isUnstorable } from "../storage/errors.ts";

export interface Failure {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly retryAfterSeconds: number | undefined;
  /** True when someone has to look into it: the cause is logged. */
  readonly isFault: boolean;
}

/** Anything thrown by a management call as its answer; unknown errors are G4 without internals. */
export function failureOf(thrown: unknown, endpoint: Endpoint | undefined, requestId: string): Failure {
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
  const told = thrown instanceof AppError ? toldFailure(thrown) : undefined;
  if (told) return told;
  const code = codeOf(thrown);
  if (code) return failureOf(new Refusal(code, { cause: thrown }), endpoint, requestId);
  return { ...catalogueFailure("G4"), isFault: true };
}

/** Errors of the relay that a caller may know as they are. */
function toldFailure({ message, code, status, origin, retryAfterMs }: AppError): Failure | undefined {
  const body = { success: false, message, code };
  const retryAfterSeconds = retryAfterMs === undefined ? undefined : Math.ceil(retryAfterMs / 1000);
  if (origin === "client") return { status: 200, body, retryAfterSeconds, isFault: false };
  const isOutage = code === "balances_unavailable";
  const isBusy = code === "server_shutdown" || code === "bodies_full";
  return isOutage || isBusy ? { status, body, retryAfterSeconds, isFault: isOutage } : undefined;
}

/** What the database says that a caller may know. */
function codeOf(thrown: unknown): MessageCode | undefined {
  if (isUnstorable(thrown)) return "G1";
  if (isFull(thrown)) return "G9";
  return isReadOnly(thrown) ? "G10" : undefined;
}

function catalogueFailure(code: MessageCode): Omit<Failure, "isFault"> {
  return { status: 500, body: { success: false, message: messageText(code), code }, retryAfterSeconds: undefined };
}

/** The calls of B15 answer relay clients, in the OpenAI error shape. */
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

/** The answer for a path or method that does not exist under `/api`, readable for both kinds of clients. */
export function unknownUrl(method: string, path: string): Failure {
  const message = messageText("G6", { method, path });
  return {
    status: 404,
    body: {
      success: false,
      message,
      code: "G6",
      error: { message, type: "invalid_request_error", param: "", code: "" },
    },
    retryAfterSeconds: undefined,
    isFault: false,
  };
}
