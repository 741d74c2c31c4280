import type { JsonObject, JsonValue } from "../../../dialects/core/types.ts";
import { asObject, asText } from "../../core/errors/error-body.ts";
import type { ErrorClass, FailedAnswer, UpstreamError } from "../../core/failed-answer.ts";
import {
  findCodeClass,
  readVendorError,
  vendorReader,
  vendorUpstreamError,
  type CodeTable,
  type NativeError,
} from "../../core/errors/vendor-error.ts";

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

/**
 * Decides the class by the message, because one code means refused keys, models that a key may not use, and forms of
 * call that a model does not support.
 */
function deniedClass(code: string, message: string): ErrorClass | undefined {
  if (code !== "AccessDenied") return undefined;
  if (/synchronous calls/i.test(message)) return "bad_request";
  return /model/i.test(message) ? "not_found" : undefined;
}

/** Reads `{code, message, request_id}` of the native protocol and its streams; the code is also the type. */
const readNative = vendorReader({
  type: "ali_error",
  codes: CODES,
  unknown: "server",
  native({ json, status }) {
    const root = asObject(json);
    const error = asObject(root?.["error"]);
    if (error && error["type"] === error["code"] && status === 200) return native(error, error["param"]);
    return root && native(root, root["request_id"]);
  },
});

function native(from: JsonObject, request: JsonValue | undefined): NativeError | undefined {
  const code = asText(from["code"]);
  if (code === undefined) return undefined;
  const message = asText(from["message"]) ?? "";
  return { code, type: code, message, param: asText(request), class: deniedClass(code, message) };
}

/** Reads errors of both protocols: the compatible one has the same codes inside the usual error object. */
export function readAli(answer: FailedAnswer): UpstreamError | undefined {
  const found = readNative(answer);
  if (found || answer.status < 400) return found;
  const error = readVendorError(answer);
  const errorClass = error && (deniedClass(error.code, error.message) ?? findCodeClass(CODES, error.code));
  return (
    errorClass && vendorUpstreamError(errorClass, { ...error, type: error.type || "ali_error", status: answer.status })
  );
}
