import { anyText, isObject, object } from "../../core/read.ts";
import type { BridgeContext } from "../../core/bridge.ts";
import type { JsonObject } from "../../core/types.ts";
import { fenced } from "../parts/content/code-fence.ts";
import { CODE_RESULT, isCodeCall, showsCode } from "../parts/tools/code-runs.ts";

const RESULT = /code_execution_tool_result$/;

/**
 * Returns code that the vendor ran, and its outcome, as text of the answer; "" for every other block, and for clients
 * that have blocks of their own for it.
 */
export function writeRunCode(block: JsonObject, context: BridgeContext): string {
  if (showsCode(context) && (isCodeCall(block) || CODE_RESULT.test(anyText(block, "type")))) return "";
  if (block["type"] === "server_tool_use") {
    const input = object(block, "input");
    const code = anyText(input, "code", "command");
    const isCode = /code_execution/.test(anyText(block, "name")) && code !== "";
    return isCode ? fenced(input?.["code"] === undefined ? "bash" : "python", code) : "";
  }
  const result = RESULT.test(anyText(block, "type")) ? block["content"] : undefined;
  if (!isObject(result)) return "";
  const output = [anyText(result, "stdout"), anyText(result, "stderr")].filter((part) => part !== "").join("\n");
  return output === "" ? "" : fenced("", output);
}
