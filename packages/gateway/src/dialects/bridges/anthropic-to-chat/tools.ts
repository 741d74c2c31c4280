import { unsupportedParameter } from "../../../lib/app-error.ts";
import { anyText, compact, object, objects, text } from "../../read.ts";
import type { BridgeContext, JsonObject, JsonValue } from "../../types.ts";

export interface ChatToolMembers {
  readonly tools: JsonObject[] | undefined;
  readonly tool_choice: JsonValue | undefined;
  readonly parallel_tool_calls: boolean | undefined;
}

/** Functions travel; tools that the vendor runs itself are only offered and fall away, unless one is forced. */
export function chatTools(body: JsonObject, context: BridgeContext): ChatToolMembers {
  const tools: JsonObject[] = [];
  for (const tool of objects(body, "tools")) {
    if (object(tool, "input_schema") !== undefined) tools.push(functionOf(tool));
    else context.dropped(`tools.${text(tool, "type") ?? "unknown"}`);
  }
  const choice = object(body, "tool_choice");
  checkForced(choice, tools);
  if (tools.length === 0) return { tools: undefined, tool_choice: undefined, parallel_tool_calls: undefined };
  return {
    tools,
    tool_choice: choiceOf(choice),
    parallel_tool_calls: choice?.["disable_parallel_tool_use"] === true ? false : undefined,
  };
}

function checkForced(choice: JsonObject | undefined, tools: readonly JsonObject[]): void {
  const type = text(choice, "type");
  const isMissing = type === "tool" ? !tools.some((tool) => nameOf(tool) === choice?.["name"]) : tools.length === 0;
  if (isMissing && (type === "any" || type === "tool")) throw unsupportedParameter("tool_choice");
}

function functionOf(tool: JsonObject): JsonObject {
  return compact({
    type: "function",
    function: compact({
      name: anyText(tool, "name"),
      description: text(tool, "description"),
      parameters: object(tool, "input_schema"),
      strict: tool["strict"] === true ? true : undefined,
    }),
    fw_cache_control: tool["cache_control"] ?? undefined,
  });
}

function nameOf(tool: JsonObject): string {
  return anyText(object(tool, "function"), "name");
}

function choiceOf(choice: JsonObject | undefined): JsonValue | undefined {
  switch (choice?.["type"]) {
    case "auto":
    case "none":
      return choice["type"];
    case "any":
      return "required";
    case "tool":
      return { type: "function", function: { name: anyText(choice, "name") } };
    default:
      return undefined;
  }
}
