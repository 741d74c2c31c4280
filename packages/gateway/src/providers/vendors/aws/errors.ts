import { asObject, asText, readErrorBody } from "../../core/errors/error-body.ts";
import type { ErrorClass, FailedAnswer, UpstreamError } from "../../core/failed-answer.ts";
import { isOutOfCredit } from "../../core/errors/out-of-credit.ts";
import { upstreamError } from "../../core/errors/upstream-error.ts";

const CLASSES: Readonly<Record<string, ErrorClass>> = {
  unrecognizedclient: "bad_key",
  invalidsignature: "bad_key",
  incompletesignature: "bad_key",
  expiredtoken: "bad_key",
  missingauthenticationtoken: "bad_key",
  accessdenied: "bad_key",
  ftuformnotfilled: "not_found",
  resourcenotfound: "not_found",
  validation: "bad_request",
  throttling: "rate_limit",
  servicequotaexceeded: "rate_limit",
  modelnotready: "overloaded",
  serviceunavailable: "overloaded",
  modeltimeout: "timeout",
  modelerror: "server",
  modelstreamerror: "server",
  internalserver: "server",
};

/**
 * Reads a failure, whose kind is in a header or in `__type`. Refused access to one model says nothing about the key.
 */
export function readAws(answer: FailedAnswer): UpstreamError | undefined {
  if (answer.status < 400) return undefined;
  const name = readErrorName(answer);
  const message = readErrorBody(answer.json)?.message ?? name;
  if (isOutOfCredit(message) || /^operation not allowed/i.test(message))
    return upstreamError({ class: "out_of_credit", message, status: answer.status });
  const errorClass = CLASSES[name.toLowerCase().replace(/exception$/, "")] ?? classifyText(answer.status, message);
  if (!errorClass || (errorClass === "bad_request" && answer.status === 400)) return undefined;
  if (name === "AccessDeniedException") return denied(message, answer.status);
  return upstreamError({ class: errorClass, message, status: answer.status });
}

function denied(message: string, status: number): UpstreamError {
  const isOneModel = /\bmodel\b/i.test(message);
  return upstreamError({
    class: "bad_key",
    message,
    status,
    type: "permission_error",
    code: "permission_denied",
    ...(isOneModel ? { disable: false } : {}),
  });
}

/** Classifies by the message, because keys that are sent as bearer are refused only in words. */
function classifyText(status: number, message: string): ErrorClass | undefined {
  return status === 403 && /authentication failed|api key/i.test(message) ? "bad_key" : undefined;
}

/** Returns the kind of a failure: `com.amazon.coral#ThrottlingException:http://…` is a ThrottlingException. */
function readErrorName({ headers, json }: FailedAnswer): string {
  const said = headers["x-amzn-errortype"] ?? asText(asObject(json)?.["__type"]) ?? "";
  return /^(?:[^#:]*#)?([^:]*)/.exec(said)?.[1] ?? "";
}
