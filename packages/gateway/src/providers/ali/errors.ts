import { asObject, asText } from "../error-body.ts";
import type { FailedAnswer, Verdict } from "../types.ts";
import { classOfCode, errorOf, vendorVerdict, type CodeTable } from "../verdict-vendor.ts";

/** https://help.aliyun.com/zh/model-studio/error-code */
const CODES: CodeTable = {
  bad_key: ["InvalidApiKey", "invalid_api_key", "AccessDenied"],
  out_of_credit: ["Arrearage", "AccessDenied.Unpurchased", "Throttling.AllocationQuota", "insufficient_quota", "AllocationQuota.FreeTierOnly"],
  rate_limit: ["Throttling", "Throttling.RateQuota", "Throttling.BurstRate", "limit_requests", "limit_burst_rate"],
  overloaded: ["ModelServiceFailed", "ModelUnavailable", "ServiceUnavailable"],
  content_filter: ["DataInspectionFailed", "data_inspection_failed"],
  not_found: ["ModelNotFound", "model_not_found", "Model.AccessDenied"],
  bad_request: ["InvalidParameter*", "invalid_parameter_error"],
  timeout: ["InternalError.Timeout", "RequestTimeOut", "Timeout"],
  server: ["InternalError*"],
};

/** `{code, message, request_id}` of the native protocol, whose code is also the type. */
export function readAli(answer: FailedAnswer): Verdict | undefined {
  const { status } = answer;
  const root = asObject(answer.json);
  const event = errorOf(answer);
  const native = asText(root?.["code"]);
  const code = native ?? event?.code ?? "";
  const errorClass = classOfCode(CODES, code);
  if (code === "" || (status === 200 && native === undefined && event?.type !== "ali_error")) return undefined;
  if (native !== undefined) {
    const param = asText(root?.["request_id"]) ?? "";
    return vendorVerdict(errorClass ?? "server", { type: code, code, message: asText(root?.["message"]) ?? "", param, status });
  }
  return event && errorClass ? vendorVerdict(errorClass, { ...event, type: event.type || "ali_error", status }) : undefined;
}
