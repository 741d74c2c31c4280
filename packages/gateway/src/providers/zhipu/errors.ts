import { isObject } from "../../dialects/read.ts";
import { asText } from "../error-body.ts";
import type { FailedAnswer, Verdict } from "../types.ts";
import { classOfCode, errorOf, vendorVerdict, type CodeTable } from "../verdict-vendor.ts";

/** https://docs.z.ai/api-reference/api-code */
const CODES: CodeTable = {
  bad_key: ["1000", "1001", "1002", "1003", "1004", "1110", "1111", "1112", "1121"],
  out_of_credit: ["1113"],
  rate_limit: ["1302", "1303", "1304"],
  overloaded: ["1305", "1234", "1230"],
  content_filter: ["1300", "1301", "sensitive"],
  not_found: ["1211", "1220", "1221", "1222"],
  bad_request: ["1210", "1212", "1213", "1214", "1215", "1231"],
  server: ["500", "1200"],
};

/** `{error: {code, message}}` of v4, `{code, msg, success: false}` of v3. */
export function readZhipu(answer: FailedAnswer): Verdict | undefined {
  const { json, status } = answer;
  const error = errorOf(answer);
  const isThird = isObject(json) && json["success"] === false;
  if (!isThird && !(error && /^\d+$/.test(error.code))) return undefined;
  const code = isThird ? String(json["code"] ?? "") : (error?.code ?? "");
  const message = isThird ? (asText(json["msg"]) ?? "") : (error?.message ?? "");
  return vendorVerdict(classOfCode(CODES, code) ?? "server", { type: "zhipu_error", code, message, status });
}
