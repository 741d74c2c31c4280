import type { JsonValue, UpstreamErrorEvent } from "../../../dialects/core/types.ts";
import { messageWithCounts } from "../../../dialects/core/context-overflow.ts";
import { asObject, cleanMessage, parseJson, readErrorBody, type ErrorBody } from "./error-body.ts";
import { innerError } from "./inner-error.ts";
import { retryAfterMs } from "./retry-after.ts";
import type { ProviderAdapter } from "../types.ts";
import type { ErrorClass, FailedAnswer, UpstreamError } from "../failed-answer.ts";
import { isOutOfCredit, isUnverified } from "./out-of-credit.ts";
import { classifyStatus, getErrorNames, upstreamError } from "./upstream-error.ts";

/** Default of the option AutomaticDisableKeywords, and further phrases that show a dead key or account. */
export const DISABLE_KEYWORDS: readonly string[] = [
  "Your credit balance is too low",
  "This organization has been disabled.",
  "You exceeded your current quota",
  "Permission denied",
  "The security token included in the request is invalid",
  "Operation not allowed",
  "Your account is not authorized",
  "api key not valid",
  "api key expired",
  "quota exceeded for quota metric",
  "your account balance is insufficient",
  "your account is currently blocked",
  "too many invalid requests",
];

const WORDS: Readonly<Record<ErrorClass, readonly string[]>> = {
  bad_key: [
    "invalid_api_key",
    "account_deactivated",
    "authentication_error",
    "invalid_authentication_error",
    "incorrect_api_key_error",
    "authenticationerror",
    "invalid_authentication",
    "invalid_organization",
    "ip_not_authorized",
    "unsupported_country_region_territory",
    "unauthorized",
    "unauthenticated",
    "permission_error",
    "permission_denied",
    "permission_denied_error",
    "forbidden",
    "access_denied",
    "oauth.v2.invalidapikey",
  ],
  out_of_credit: [
    "insufficient_quota",
    "insufficient_user_quota",
    "billing_not_active",
    "billing_hard_limit_reached",
    "billing_error",
    "exceeded_current_quota_error",
    "payment_required",
    "enforced_spend_limit_reached",
    "spend_limit_reached",
    "budget_exceeded",
    "organization_restricted",
    "insufficient_balance",
    "insufficient_credits",
    "credits_exhausted",
    "billing_disabled",
    "arrearage",
    "accountoverdueerror",
  ],
  rate_limit: [
    "rate_limit_exceeded",
    "rate_limit_error",
    "rate_limit_reached_error",
    "ratelimitreached",
    "request_rate_limit_exceeded",
    "too_many_requests",
    "resource_exhausted",
    "requests",
    "tokens",
  ],
  overloaded: [
    "overloaded_error",
    "overloaded",
    "engine_overloaded_error",
    "capacity_exceeded",
    "slow_down",
    "unavailable",
    "provider_overloaded",
    "service_unavailable",
  ],
  not_found: ["model_not_found", "not_found_error", "not_found", "resource_not_found_error", "deploymentnotfound"],
  content_filter: [
    "content_filter",
    "content_policy_violation",
    "moderation_blocked",
    "responsibleaipolicyviolation",
    "sensitive_words_detected",
  ],
  bad_request: [
    "context_length_exceeded",
    "exceed_context_size_error",
    "request_too_large",
    "unsupported_parameter",
    "unsupported_value",
  ],
  timeout: ["timeout_error", "deadline_exceeded"],
  server: ["api_error", "server_error", "internal"],
};

const CLASS_BY_WORD = new Map<string, ErrorClass>(
  (Object.entries(WORDS) as [ErrorClass, readonly string[]][]).flatMap(([errorClass, words]) =>
    words.map((word) => [word, errorClass] as const),
  ),
);

const CLASS_BY_TEXT: readonly (readonly [RegExp, ErrorClass])[] = [
  [/you exceeded your current quota/i, "out_of_credit"],
  [/organization has been disabled|account is currently blocked|account is not authorized/i, "bad_key"],
  [/incorrect api key|invalid api[ -]?key|api key not valid|api key expired|invalid x-api-key/i, "bad_key"],
  [/security token included in the request is invalid/i, "bad_key"],
  [/prompt is too long|maximum context length|context window/i, "bad_request"],
];

/** Classes whose failures are temporary: no phrase in them disables a channel. */
const PASSING: ReadonlySet<ErrorClass> = new Set(["rate_limit", "overloaded", "timeout", "server"]);

export interface ReadAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface ReadingOptions {
  /** Phrases that disable a channel, from the operator's option. */
  readonly keywords?: readonly string[];
  /** Epoch milliseconds, for dates in `retry-after`. */
  readonly now?: number;
}

/** An answer without this text needs no second parse. */
const ERROR_MEMBER = Buffer.from('"error"');

type Reader = Pick<ProviderAdapter, "classify">;

/** Classifies a failed answer. The caller masks the message. */
export function readFailure(provider: Reader, answer: ReadAnswer, options: ReadingOptions = {}): UpstreamError {
  const read = withJson(answer);
  return finish(provider.classify?.(read) ?? general(answer, read.json, options), options);
}

/** Parses the JSON only when it is read: most vendors decide by the status first. */
function withJson({ status, headers, body }: ReadAnswer): FailedAnswer {
  let parsed: { readonly json: JsonValue | undefined } | undefined;
  return {
    status,
    headers,
    body,
    get json() {
      parsed ??= { json: parseJson(body) };
      return parsed.json;
    },
  };
}

/** Returns the failure in an answer of status 200 (a whole answer, or the data of a stream's first event), if any. */
export function failureIn200(
  provider: Reader,
  answer: ReadAnswer,
  options: ReadingOptions = {},
): UpstreamError | undefined {
  const read = withJson(answer);
  const own = provider.classify?.(read);
  if (own) return finish(own, options);
  if (!answer.body.includes(ERROR_MEMBER) || !holdsError(read.json)) return undefined;
  return finish(general(answer, read.json, options), options);
}

/** Classifies an error event in the middle of a stream. */
export function readErrorEvent(
  provider: Reader,
  event: UpstreamErrorEvent,
  options: ReadingOptions = {},
): UpstreamError {
  const { message, code, param } = event;
  const type = event.type === "api_error" && code === undefined ? undefined : event.type;
  const error = { message, ...(type && { type }), ...(code && { code }), ...(param && { param }) };
  const body = Buffer.from(JSON.stringify({ error }));
  return readFailure(provider, { status: event.status ?? 200, headers: {}, body }, options);
}

function holdsError(json: JsonValue | undefined): boolean {
  const root = asObject(Array.isArray(json) ? json[0] : json);
  if (!root) return false;
  const error = root["error"];
  if (root["object"] === "error") return readErrorBody(root) !== undefined;
  if (typeof error === "string") return error !== "" && root["choices"] === undefined;
  return asObject(error) !== undefined && readErrorBody(root) !== undefined;
}

/**
 * Reads a failure without the vendor's own reader: by the error's type and code first, then by its sentences, then by
 * the status.
 */
export function general(answer: ReadAnswer, json: JsonValue | undefined, options: ReadingOptions = {}): UpstreamError {
  const body = readErrorBody(json);
  const plain = body ? undefined : plainText(answer, json);
  const errorClass = textClass(plain) ?? classifyErrorBody(body, answer.status);
  const status = presentStatus(answer.status, body, errorClass);
  const wait = retryAfterMs(answer.headers, body?.source, body?.message ?? "", options.now ?? 0);
  const rest = { class: errorClass, status, retryAfterMs: wait, ...staysOn(answer.status, body) };
  if (!body) return upstreamError({ ...rest, ...unreadable(answer.status, plain) });
  const said = {
    message: messageWithCounts(body.message, body.source),
    param: body.param,
    innerError: innerError(body.source),
  };
  const isPassed = body.isOpenAiShaped && answer.status !== 498;
  const names = isPassed ? passed(errorClass, body) : translated(errorClass, body, status);
  return upstreamError({ ...rest, ...said, ...names });
}

/** Returns the vendor's type and code; a missing code follows from a type that names the class (`overloaded_error`). */
function passed(errorClass: ErrorClass, body: ErrorBody): { type: string; code: string | undefined } {
  const { type, code, source } = body;
  const names = getErrorNames(errorClass);
  const isSaid = type === names.type && errorClass !== "server";
  const numbered = type !== undefined && typeof source["code"] === "number" ? String(source["code"]) : undefined;
  return { type: type ?? names.type, code: code ?? (isSaid ? names.code : numbered) };
}

function staysOn(status: number, body: ErrorBody | undefined): { disable?: boolean } {
  return isBare403(status, body) || isUnverified(body?.message ?? "") ? { disable: false } : {};
}

/**
 * True for a 403 without a known word: it may come from a firewall or concern one model, so it does not prove that the
 * key is bad.
 */
function isBare403(status: number, body: ErrorBody | undefined): boolean {
  return (
    status === 403 && (body === undefined || wordClass(body) === undefined) && textClass(body?.message) === undefined
  );
}

function unreadable(
  status: number,
  message = `bad response status code ${status}`,
): { message: string; type: string; code: string; param: string } {
  return { message, type: "upstream_error", code: "bad_response_status_code", param: String(status) };
}

/**
 * Reads a sentence that was sent instead of an object: a JSON string, or a body of a plain-text type. HTML pages of
 * proxies are never passed on.
 */
function plainText({ headers, body }: ReadAnswer, json: JsonValue | undefined): string | undefined {
  const isPlain = /^text\/plain\b/.test(headers["content-type"] ?? "");
  const said = typeof json === "string" ? json : isPlain && json === undefined ? body.toString("utf8") : "";
  const message = cleanMessage(said);
  return message === "" || message.startsWith("<") ? undefined : message;
}

function translated(errorClass: ErrorClass, body: ErrorBody, status: number): { type?: string; code?: string } {
  if (errorClass === "bad_key" && isPermission(body, status))
    return { type: "permission_error", code: "permission_denied" };
  if (errorClass !== "bad_request") return {};
  return /too long|context (?:length|window)|too many tokens|exceeds the maximum number of tokens/i.test(body.message)
    ? { type: "invalid_request_error", code: "context_length_exceeded" }
    : {};
}

function isPermission(body: ErrorBody, status: number): boolean {
  const word = (body.type ?? body.statusWord)?.toLowerCase();
  return word === "permission_error" || word === "permission_denied" || (status === 403 && word === undefined);
}

/** Classifies by the error's words, unless they only mean "something broke": a status such as 503 or 504 says more. */
function classifyErrorBody(body: ErrorBody | undefined, status: number): ErrorClass {
  // Most vendors say this in a sentence, next to a code for something else.
  if (body && isOutOfCredit(body.message)) return "out_of_credit";
  const word = body && wordClass(body);
  const byStatus = classifyStatus(status < 400 ? (body?.number ?? status) : status);
  if (word === "server" && PASSING.has(byStatus)) return byStatus;
  return word ?? textClass(body?.message) ?? byStatus;
}

function wordClass(body: ErrorBody): ErrorClass | undefined {
  for (const word of [body.code, ...listErrorWords(body), body.type, body.statusWord]) {
    const found = word === undefined ? undefined : CLASS_BY_WORD.get(word.toLowerCase());
    if (found && !(found === "rate_limit" && isQuotaSentence(body))) return found;
  }
  return undefined;
}

function textClass(message: string | undefined): ErrorClass | undefined {
  if (message !== undefined && isOutOfCredit(message)) return "out_of_credit";
  return message === undefined ? undefined : CLASS_BY_TEXT.find(([pattern]) => pattern.test(message))?.[1];
}

/** Lists the words that vendors put next to type and code. */
function listErrorWords(body: ErrorBody): (string | undefined)[] {
  const inner = asObject(body.source["innererror"])?.["code"];
  const kind = asObject(body.source["metadata"])?.["error_type"];
  const detail = asObject(body.source["details"])?.["error_code"];
  const fault = asObject(body.source["detail"])?.["errorcode"];
  return [inner, kind, detail, fault].map((word) => (typeof word === "string" ? word : undefined));
}

function isQuotaSentence(body: ErrorBody): boolean {
  return body.statusWord === undefined && /^you exceeded your current quota/i.test(body.message);
}

/**
 * Returns a status that clients know: unregistered ones and failures with status 200 take the status of their class.
 */
function presentStatus(status: number, body: ErrorBody | undefined, errorClass: ErrorClass): number {
  if (status === 498 || status === 499) return 503;
  if (status >= 400 && status <= 599) return status;
  const said = body?.number;
  if (said !== undefined && said >= 400 && said <= 599) return said;
  if (errorClass === "overloaded" && body?.type === "overloaded_error") return 529;
  return upstreamError({ class: errorClass, message: "" }).status;
}

function finish(found: UpstreamError, options: ReadingOptions): UpstreamError {
  if (found.disable || !isListed(found, options.keywords ?? DISABLE_KEYWORDS)) return found;
  return { ...found, retry: true, disable: true };
}

function isListed(found: UpstreamError, keywords: readonly string[]): boolean {
  if (PASSING.has(found.class)) return false;
  const message = found.message.toLowerCase();
  return keywords.some((keyword) => keyword !== "" && message.includes(keyword.toLowerCase()));
}
