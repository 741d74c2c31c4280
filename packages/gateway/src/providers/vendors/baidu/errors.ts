import { isObject } from "../../../dialects/core/read.ts";
import { asNumber, asText } from "../../core/errors/error-body.ts";
import type { ErrorClass, FailedAnswer, UpstreamError } from "../../core/failed-answer.ts";
import { findCodeClass, readVendorError, vendorUpstreamError, type CodeTable } from "../../core/errors/vendor-error.ts";
import { classifyStatus } from "../../core/errors/upstream-error.ts";

/** https://cloud.baidu.com/doc/WENXINWORKSHOP/s/tlmyncueh */
const CODES: CodeTable = {
  bad_key: ["6", "13", "14", "15", "110", "111"],
  out_of_credit: ["17", "19"],
  rate_limit: ["4", "18", "336501", "336502"],
  overloaded: ["2", "336100"],
  content_filter: ["336104"],
  not_found: ["336005"],
  bad_request: ["3", "100", "336001", "336002", "336003", "336004"],
  server: ["1", "336000", "500000"],
};

/** Reads `{error_code, error_msg}`, which mostly has status 200. */
export function readBaidu(answer: FailedAnswer): UpstreamError | undefined {
  const { json, status } = answer;
  const first = isObject(json) ? asNumber(json["error_code"]) : undefined;
  const error = readVendorError(answer);
  if (first !== undefined && first !== 0 && isObject(json)) {
    const code = String(first);
    return vendorUpstreamError(classifyCode(code, status), {
      type: "baidu_error",
      code,
      message: asText(json["error_msg"]) ?? "",
      status,
    });
  }
  if (error?.type === "baidu_error") return vendorUpstreamError(classifyCode(error.code, status), { ...error, status });
  return status >= 400 && error ? readV2(error, status) : undefined;
}

function classifyCode(code: string, status: number): ErrorClass {
  return findCodeClass(CODES, code) ?? (status >= 400 ? classifyStatus(status) : "server");
}

/** Reads errors of the OpenAI-compatible API, which reports a model that the key may not use like a wrong key. */
function readV2(error: { code: string; message: string; type: string }, status: number): UpstreamError | undefined {
  const type = error.type || "baidu_error";
  if (error.code === "invalid_model") return vendorUpstreamError("not_found", { ...error, type, status });
  if (error.code === "access_denied") return vendorUpstreamError("bad_key", { ...error, type, status });
  return status === 403 && /quota|balance|arrear/i.test(error.message)
    ? vendorUpstreamError("out_of_credit", { ...error, type, status })
    : undefined;
}
