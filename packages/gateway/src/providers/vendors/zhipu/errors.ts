import { object, objects, text } from "../../../dialects/core/read.ts";
import type { JsonObject } from "../../../dialects/core/types.ts";
import { asObject, asText, codeText } from "../../core/errors/error-body.ts";
import { readVendorError, vendorReader, type CodeTable, type NativeError } from "../../core/errors/vendor-error.ts";

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

const NETWORK = "1234";
/** The code for an expired token. The gateway built it a moment ago, so its own clock is wrong. */
const EXPIRED = "1003";

function failed(code: string, message: string): NativeError {
  return { code, message, ...(code === EXPIRED ? { disable: false } : {}) };
}

/** True if the first event or the whole answer ended with `network_error` and holds no text. */
function hasBroken(root: JsonObject | undefined): boolean {
  const [choice] = objects(root, "choices");
  if (text(choice, "finish_reason") !== "network_error") return false;
  const message = object(choice, "message") ?? object(choice, "delta");
  return !text(message, "content") && objects(message, "tool_calls").length === 0;
}

/** Reads `{error: {code, message}}` of v4 and `{code, msg, success: false}` of v3. */
export const readZhipu = vendorReader({
  type: "zhipu_error",
  codes: CODES,
  unknown: "server",
  native(answer) {
    const root = asObject(answer.json);
    if (root?.["success"] === false) return failed(codeText(root["code"]), asText(root["msg"]) ?? "");
    const error = readVendorError(answer);
    if (error && /^\d+$/.test(error.code)) return failed(error.code, error.message);
    return hasBroken(root) ? failed(NETWORK, "The model's connection broke.") : undefined;
  },
});
