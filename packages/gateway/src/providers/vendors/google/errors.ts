import { general } from "../../core/errors/classify.ts";
import { asList, asObject, asText, readErrorBody } from "../../core/errors/error-body.ts";
import type { FailedAnswer, UpstreamError } from "../../core/failed-answer.ts";
import { upstreamError } from "../../core/errors/upstream-error.ts";

/** Reads Google's error envelope: a bad key is a 400, and rate limits contain the same sentence as an empty account. */
export function readGoogle(answer: FailedAnswer): UpstreamError | undefined {
  if (answer.status === 200 && answer.body.includes(FILTERED)) return filtered(answer);
  const body = answer.status < 400 ? undefined : readErrorBody(answer.json);
  if (!body) return undefined;
  const details = asList(body.source["details"]).map(asObject);
  const reasons = details.map((detail) => asText(detail?.["reason"]));
  const { message, retryAfterMs } = general(answer, answer.json);
  const rest = { message, retryAfterMs, status: answer.status };
  if (reasons.includes("API_KEY_INVALID") || /api key (?:not valid|expired)/i.test(message))
    return upstreamError({ ...rest, class: "bad_key" });
  if (body.statusWord === "RESOURCE_EXHAUSTED")
    return upstreamError({ ...rest, class: isUsedUp(details, message) ? "out_of_credit" : "rate_limit" });
  if (body.statusWord === "FAILED_PRECONDITION" && /location|billing|free tier/i.test(message))
    return upstreamError({ ...rest, class: "bad_key" });
  return answer.status === 403 ? readForbidden(rest) : undefined;
}

/** A cache that has expired is refused like one of another account; the key is not the cause. */
function readForbidden(rest: Omit<Parameters<typeof upstreamError>[0], "class">): UpstreamError {
  if (/cached ?content not found/i.test(rest.message))
    return upstreamError({ ...rest, class: "not_found", status: 404, code: "cache_not_found" });
  return upstreamError({ ...rest, class: "bad_key", type: "permission_error", code: "permission_denied" });
}

const FILTERED = "raiFilteredReason";

/** Returns a failure for an answer without a picture, if a filter held all of them back. */
function filtered({ json }: FailedAnswer): UpstreamError | undefined {
  const predictions = asList(asObject(json)?.["predictions"]).map(asObject);
  if (predictions.some((prediction) => asText(prediction?.["bytesBase64Encoded"]) !== undefined)) return undefined;
  const message = predictions.flatMap((prediction) => asText(prediction?.[FILTERED]) ?? [])[0];
  return message === undefined ? undefined : upstreamError({ class: "content_filter", message });
}

/** True for a used-up daily quota or prepaid balance; a quota per minute recovers by itself. */
function isUsedUp(details: readonly ReturnType<typeof asObject>[], message: string): boolean {
  if (/prepayment credits/i.test(message)) return true;
  const quotas = details.flatMap((detail) =>
    asList(detail?.["violations"]).map((entry) => asText(asObject(entry)?.["quotaId"]) ?? ""),
  );
  return quotas.some((quota) => /PerDay/i.test(quota)) && !quotas.some((quota) => /PerMinute/i.test(quota));
}
