import { unsupportedParameter } from "../../../lib/app-error.ts";
import { anyText, compact, isObject, object, objects, text } from "../../read.ts";
import type { BridgeContext, JsonObject, JsonValue } from "../../types.ts";

export interface ReadTools {
  readonly members: JsonObject;
  /** Tools whose input is free text. */
  readonly custom: ReadonlySet<string>;
}

/** Functions and free-text tools travel; hosted tools are only offered and fall away, unless one is forced. */
export function chatTools(body: JsonObject, context: BridgeContext): ReadTools {
  const custom = new Set<string>();
  const tools: JsonObject[] = [];
  for (const tool of objects(body, "tools")) {
    const name = anyText(tool, "name");
    if (tool["type"] === "function") tools.push(functionOf(tool, name));
    else if (tool["type"] === "custom") {
      custom.add(name);
      tools.push(freeTextFunction(tool, name));
    } else context.dropped(`tools.${text(tool, "type") ?? "unknown"}`);
  }
  const choice = choiceOf(body["tool_choice"], tools);
  if (tools.length === 0) return { members: {}, custom };
  const parallel = body["parallel_tool_calls"];
  const members = compact({ tools, tool_choice: choice, parallel_tool_calls: parallel === false ? false : undefined });
  return { members, custom };
}

function functionOf(tool: JsonObject, name: string): JsonObject {
  return {
    type: "function",
    function: compact({
      name,
      description: text(tool, "description"),
      parameters: object(tool, "parameters"),
      strict: tool["strict"] === true ? true : undefined,
    }),
  };
}

/** The grammar of the input is told where the model reads what the tool is for. */
function freeTextFunction(tool: JsonObject, name: string): JsonObject {
  const format = object(tool, "format");
  const grammar = text(format, "definition");
  const input = compact({
    type: "string",
    description:
      grammar === undefined ? undefined : `Must match this ${text(format, "syntax") ?? ""} grammar:\n${grammar}`,
  });
  const parameters = { type: "object", properties: { input }, required: ["input"], additionalProperties: false };
  return { type: "function", function: compact({ name, description: text(tool, "description"), parameters }) };
}

function choiceOf(choice: JsonValue | undefined, tools: readonly JsonObject[]): JsonValue | undefined {
  if (choice === "required" && tools.length === 0) throw unsupportedParameter("tool_choice");
  if (!isObject(choice)) return typeof choice === "string" ? choice : undefined;
  if (choice["type"] === "allowed_tools") {
    const names = objects(choice, "tools").map((tool) => ({
      type: "function",
      function: { name: anyText(tool, "name") },
    }));
    return { type: "allowed_tools", allowed_tools: { mode: text(choice, "mode") ?? "auto", tools: names } };
  }
  const name = text(choice, "name");
  const isThere = tools.some((tool) => anyText(object(tool, "function"), "name") === name);
  if (name === undefined || !isThere) throw unsupportedParameter("tool_choice");
  return { type: "function", function: { name } };
}
