import { asObject, asText, codeText } from "../../core/errors/error-body.ts";
import { vendorReader, type CodeTable } from "../../core/errors/vendor-error.ts";

const CODES: CodeTable = {
  bad_key: ["1000", "1001", "1002", "1003", "1004", "1100", "1103", "1304"],
  out_of_credit: ["1101", "1102"],
  bad_request: ["1200", "1201", "1202", "1203"],
  content_filter: ["1300", "1301"],
  rate_limit: ["1302", "1303"],
  overloaded: ["5001"],
  timeout: ["5002"],
  server: ["5000"],
};

/**
 * Codes that do not blame the key. Token not yet valid or expired: the gateway's own clock is wrong. Barred address:
 * another replica may still be allowed.
 */
const NOT_THE_KEY: ReadonlySet<string> = new Set(["1003", "1004", "1304"]);

/** Reads `{code, message, request_id}`, with any HTTP status; code 0 is success. */
export const readKling = vendorReader({
  type: "kling_error",
  codes: CODES,
  unknown: "server",
  native({ json }) {
    const root = asObject(json);
    const code = codeText(root?.["code"]);
    if (!/^[1-9]\d*$/.test(code)) return undefined;
    return {
      code,
      message: asText(root?.["message"]) ?? "",
      ...(NOT_THE_KEY.has(code) ? { disable: false } : {}),
    };
  },
});
