import type { useTexts } from "./texts.ts";

export type TranslateFailure = ReturnType<typeof useTexts>;

/** Error codes and early ends in a few words; several may mean the same to a reader. */
const REASONS = {
  missing_api_key: "reasonNoKey",
  invalid_api_key: "reasonInvalidKey",
  token_disabled: "reasonTokenDisabled",
  token_expired: "reasonTokenExpired",
  token_quota_exhausted: "reasonTokenQuota",
  insufficient_token_quota: "reasonTokenQuota",
  insufficient_user_quota: "reasonBalance",
  insufficient_quota: "reasonQuotaDuring",
  budget_exceeded: "reasonBudget",
  user_disabled: "reasonUserDisabled",
  ip_not_allowed: "reasonIp",
  group_not_allowed: "reasonGroup",
  model_not_allowed: "reasonModelForbidden",
  channel_pin_forbidden: "reasonPin",
  invalid_channel_id: "reasonPinned",
  channel_not_found: "reasonPinned",
  channel_disabled: "reasonPinned",
  model_required: "reasonNoModel",
  invalid_model: "reasonModelName",
  model_not_found: "reasonModelUnknown",
  invalid_json: "reasonJson",
  invalid_request: "reasonRequest",
  invalid_max_tokens: "reasonRequest",
  unsupported_parameter: "reasonParameter",
  unsupported_by_channel: "reasonEndpoint",
  api_not_implemented: "reasonEndpoint",
  sensitive_words_detected: "reasonPolicy",
  prompt_blocked: "reasonPolicy",
  answer_blocked: "reasonAnswerPolicy",
  guardrail_unavailable: "reasonGuardrail",
  rate_limit_exceeded: "reasonRate",
  concurrency_limit_exceeded: "reasonConcurrency",
  upstream_saturated: "reasonSaturated",
  no_available_channel: "reasonNoChannel",
  request_too_large: "reasonTooLarge",
  json_too_large: "reasonTooLarge",
  too_many_values: "reasonTooLarge",
  request_timeout: "reasonSlowBody",
  client_closed_request: "reasonClientLeft",
  previous_response_unavailable: "reasonPrevious",
  response_not_found: "reasonPrevious",
  model_price_error: "reasonUnpriced",
  surcharge_not_priced: "reasonUnpriced",
  invalid_model_mapping: "reasonMapping",
  model_mapping_cycle: "reasonMapping",
  convert_request_failed: "reasonConversion",
  upstream_connect_failed: "reasonUnreachable",
  upstream_timeout: "reasonTimeout",
  upstream_idle_timeout: "reasonSilent",
  upstream_stream_interrupted: "reasonCut",
  upstream_invalid_response: "reasonUnreadable",
  upstream_invalid_stream: "reasonUnreadable",
  upstream_auth_error: "reasonUpstreamKey",
  upstream_billing_error: "reasonUpstreamBilling",
  upstream_error: "reasonUpstream",
  bad_response_status_code: "reasonUpstream",
  internal_error: "reasonInternal",
  overloaded: "reasonOverloaded",
  bodies_full: "reasonOverloaded",
  limits_unavailable: "reasonStoreAway",
  budgets_unavailable: "reasonStoreAway",
  balances_unavailable: "reasonStoreAway",
  responses_unavailable: "reasonStoreAway",
  server_shutdown: "reasonRestart",
  client_abort: "reasonClientLeft",
  idle_timeout: "reasonSilent",
  quota_exhausted: "reasonQuotaDuring",
  guardrail: "reasonAnswerPolicy",
  upstream_cut: "reasonCut",
  unsafe_url: "reasonUrl",
  file_fetch_failed: "reasonUrl",
} as const;

/**
 * Returns why a call failed or an answer ended early, in the reader's language; undefined for messages of upstreams.
 */
export function findReasonText(code: string | undefined, t: TranslateFailure): string | undefined {
  return code !== undefined && isKnown(code) ? t(REASONS[code]) : undefined;
}

/** What a row of the log records about a failure. */
interface Recorded {
  readonly error_code?: string | undefined;
  /** Who sent the error: `client`, `gateway` or `upstream`. */
  readonly error_type?: string | undefined;
  readonly status_code?: number | undefined;
  readonly outcome?: string | undefined;
}

/** Does the same for a row of a failed call; an upstream's message is in its own words and has no translation. */
export function findFailureText(recorded: Recorded, t: TranslateFailure): string | undefined {
  const { error_code: code = "", error_type: origin, status_code: status = 0 } = recorded;
  if (origin !== "upstream") return findReasonText(code, t);
  return findUpstreamReason(code, status, t) ?? t(isRefusal(status) ? "reasonRefused" : "reasonUpstream");
}

/** Does the same for one call of an upstream, whose codes may equal the gateway's but mean something else. */
export function findUpstreamReason(code: string, status: number, t: TranslateFailure): string | undefined {
  const isOwn = status < 400 || code.startsWith("upstream_") || code === "bad_response_status_code";
  if (!isOwn) return undefined;
  const reason = findReasonText(code, t);
  return isRefusal(status) && reason === t("reasonUpstream") ? t("reasonRefused") : reason;
}

/** An upstream that refuses a request is working. */
function isRefusal(status: number): boolean {
  return status >= 400 && status < 500;
}

/** Returns who is at fault; an upstream that refuses a wrong request is not. */
export function findFaultOrigin({ error_type: origin, outcome }: Recorded): string | undefined {
  return origin === "upstream" && outcome === "client_error" ? "client" : origin;
}

function isKnown(code: string): code is keyof typeof REASONS {
  return Object.hasOwn(REASONS, code);
}
