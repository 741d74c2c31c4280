import { asObject, asText, codeText } from "../error-body.ts";
import { errorOf, vendorReader, type CodeTable } from "../verdict-vendor.ts";

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
export const readZhipu = vendorReader({
  type: "zhipu_error",
  codes: CODES,
  unknown: "server",
  native(answer) {
    const root = asObject(answer.json);
    if (root?.["success"] === false) return { code: codeText(root["code"]), message: asText(root["msg"]) ?? "" };
    const error = errorOf(answer);
    return error && /^\d+$/.test(error.code) ? { code: error.code, message: error.message } : undefined;
  },
});
