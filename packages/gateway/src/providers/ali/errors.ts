import { asObject, asText } from "../error-body.ts";
import type { FailedAnswer, Verdict } from "../types.ts";
import { classOfCode, errorOf, vendorReader, vendorVerdict, type CodeTable } from "../verdict-vendor.ts";

/** https://help.aliyun.com/zh/model-studio/error-code */
const CODES: CodeTable = {
  bad_key: ["InvalidApiKey", "invalid_api_key", "AccessDenied"],
  out_of_credit: [
    "Arrearage",
    "AccessDenied.Unpurchased",
    "Throttling.AllocationQuota",
    "insufficient_quota",
    "AllocationQuota.FreeTierOnly",
  ],
  rate_limit: ["Throttling", "Throttling.RateQuota", "Throttling.BurstRate", "limit_requests", "limit_burst_rate"],
  overloaded: ["ModelServiceFailed", "ModelUnavailable", "ServiceUnavailable"],
  content_filter: ["DataInspectionFailed", "data_inspection_failed"],
  not_found: ["ModelNotFound", "model_not_found", "Model.AccessDenied"],
  bad_request: ["InvalidParameter*", "invalid_parameter_error"],
  timeout: ["InternalError.Timeout", "RequestTimeOut", "Timeout"],
  server: ["InternalError*"],
};

/** `{code, message, request_id}` of the native protocol, whose code is also the type. */
const readNative = vendorReader({
  type: "ali_error",
  codes: CODES,
  unknown: "server",
  native({ json }) {
    const root = asObject(json);
    const code = asText(root?.["code"]);
    if (code === undefined) return undefined;
    return { code, type: code, message: asText(root?.["message"]) ?? "", param: asText(root?.["request_id"]) };
  },
});

/** The compatible protocol has the same codes inside the usual error object. */
export function readAli(answer: FailedAnswer): Verdict | undefined {
  const native = readNative(answer);
  if (native || answer.status < 400) return native;
  const error = errorOf(answer);
  const errorClass = error && classOfCode(CODES, error.code);
  return errorClass && vendorVerdict(errorClass, { ...error, type: error.type || "ali_error", status: answer.status });
}
