import { asObject, asText, readErrorBody } from "../error-body.ts";
import type { ErrorClass, FailedAnswer, Verdict } from "../types.ts";
import { verdict } from "../verdict.ts";

const CLASSES: Readonly<Record<string, ErrorClass>> = {
  unrecognizedclientexception: "bad_key",
  invalidsignatureexception: "bad_key",
  incompletesignature: "bad_key",
  expiredtokenexception: "bad_key",
  missingauthenticationtoken: "bad_key",
  accessdeniedexception: "bad_key",
  ftuformnotfilled: "not_found",
  resourcenotfoundexception: "not_found",
  validationexception: "bad_request",
  throttlingexception: "rate_limit",
  servicequotaexceededexception: "rate_limit",
  modelnotreadyexception: "overloaded",
  serviceunavailableexception: "overloaded",
  modeltimeoutexception: "timeout",
  modelerrorexception: "server",
  modelstreamerrorexception: "server",
  internalserverexception: "server",
};

/** The kind of a failure stands in a header or in `__type`; access to one model says nothing about the key. */
export function readAws(answer: FailedAnswer): Verdict | undefined {
  if (answer.status < 400) return undefined;
  const name = nameOf(answer);
  const errorClass = CLASSES[name.toLowerCase()];
  if (!errorClass) return undefined;
  const message = readErrorBody(answer.json)?.message ?? name;
  const isOneModel = name === "AccessDeniedException" && /model/i.test(message);
  const isUnpaid = /INVALID_PAYMENT_INSTRUMENT/.test(message);
  return verdict({
    class: isUnpaid ? "out_of_credit" : errorClass,
    message,
    status: answer.status,
    ...(isOneModel && !isUnpaid ? { disable: false } : {}),
  });
}

/** `com.amazon.coral#ThrottlingException:http://…` is a ThrottlingException. */
function nameOf({ headers, json }: FailedAnswer): string {
  const said = headers["x-amzn-errortype"] ?? asText(asObject(json)?.["__type"]) ?? "";
  return /^(?:[^#:]*#)?([^:]*)/.exec(said)?.[1] ?? "";
}
