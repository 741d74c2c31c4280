import { unsupportedParameter } from "../../../lib/app-error.ts";
import { anyText, compact, object, objects, text } from "../../core/read.ts";
import type { BridgeContext, JsonObject, JsonValue } from "../../core/types.ts";
import { chatName } from "../parts/content/chat-name.ts";
import { strictSchema } from "../parts/schemas/strict-schema.ts";
import { asFunction } from "./client-tools.ts";
import { noteLongNames } from "./names.ts";

export interface ChatToolMembers {
  readonly tools: JsonObject[] | undefined;
  readonly tool_choice: JsonValue | undefined;
  readonly parallel_tool_calls: boolean | undefined;
}

/** Keeps the tools that the client runs; tools that the vendor runs are dropped, unless one is forced. */
export function chatTools(body: JsonObject, context: BridgeContext): ChatToolMembers {
  noteLongNames(body, context);
  const tools: JsonObject[] = [];
  for (const tool of objects(body, "tools")) {
    const described = object(tool, "input_schema") === undefined ? asFunction(tool) : tool;
    if (described !== undefined) tools.push(functionOf(described, context));
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
  const isMissing = type === "tool" ? !tools.some((tool) => nameOf(tool) === chosenName(choice)) : tools.length === 0;
  if (isMissing && (type === "any" || type === "tool")) throw unsupportedParameter("tool_choice");
}

/** A schema may be strict here and not to OpenAI, which refuses members that may be left out. */
function functionOf(tool: JsonObject, context: BridgeContext): JsonObject {
  const schema = object(tool, "input_schema");
  const strict = tool["strict"] === true && schema !== undefined ? strictSchema(schema) : undefined;
  if (tool["strict"] === true && strict === undefined) context.dropped("tools.strict");
  return compact({
    type: "function",
    function: compact({
      name: chatName(anyText(tool, "name")),
      description: text(tool, "description"),
      parameters: strict ?? schema,
      strict: strict && true,
    }),
    fw_cache_control: tool["cache_control"] ?? undefined,
  });
}

function nameOf(tool: JsonObject): string {
  return anyText(object(tool, "function"), "name");
}

function chosenName(choice: JsonObject | undefined): string {
  return chatName(anyText(choice, "name"));
}

function choiceOf(choice: JsonObject | undefined): JsonValue | undefined {
  switch (choice?.["type"]) {
    case "auto":
    case "none":
      return choice["type"];
    case "any":
      return "required";
    case "tool":
      return { type: "function", function: { name: chosenName(choice) } };
    default:
      return undefined;
  }
}
