import { isObject, text } from "../../../dialects/core/read.ts";
import type { JsonObject } from "../../../dialects/core/types.ts";
import type { HttpJson } from "../types.ts";
import { UpstreamRefusal, type ErrorClass } from "../failed-answer.ts";
import { classifyStatus, upstreamError } from "../errors/upstream-error.ts";

export interface ExchangedToken {
  readonly status: number;
  /** `{}` for everything that is not a JSON object. */
  readonly json: JsonObject;
  /** Undefined = the exchange failed. */
  readonly token: string | undefined;
  /** The class of the failure. */
  readonly class: ErrorClass;
  readonly isRefused: boolean;
}

/** Exchanges credentials for an `access_token`. Throws UpstreamRefusal if the host cannot be reached. */
export async function exchangeToken(http: HttpJson, call: Parameters<HttpJson>[0]): Promise<ExchangedToken> {
  const { status, json: answer } = await http(call).catch((cause: unknown) => {
    const message = "The host that gives out access tokens could not be reached.";
    throw Object.assign(new UpstreamRefusal(upstreamError({ class: "server", message })), { cause });
  });
  const json = isObject(answer) ? answer : {};
  const errorClass = classifyFailure(status, json);
  return { status, json, token: text(json, "access_token"), class: errorClass, isRefused: errorClass === "bad_key" };
}

/**
 * Classifies a failed exchange. Only an answer of the protocol proves that the credentials are bad; a proxy's page, a
 * rate limit and an outage are temporary.
 */
function classifyFailure(status: number, json: JsonObject): ErrorClass {
  if (status === 429 || status >= 500) return classifyStatus(status);
  const code = text(json, "error");
  return code === undefined || code === "temporarily_unavailable" || code === "server_error" ? "server" : "bad_key";
}
