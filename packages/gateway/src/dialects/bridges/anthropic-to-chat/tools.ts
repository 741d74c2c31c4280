import { unsupportedParameter } from "../../../lib/app-error.ts";
import { anyText, compact, object, objects, text } from "../../core/read.ts";
import type { BridgeContext, HostedKind } from "../../core/bridge.ts";
import type { JsonObject, JsonValue } from "../../core/types.ts";
import { chatName } from "../parts/content/chat-name.ts";
import { hostedMembers, hostedTool } from "../parts/tools/hosted-tools.ts";
import { isToolset, listMcpServers } from "../parts/tools/mcp-servers.ts";
import { strictSchema } from "../parts/schemas/strict-schema.ts";
import { asFunction } from "./client-tools.ts";

export interface ChatToolMembers extends JsonObject {
  readonly tools: JsonObject[] | undefined;
  readonly tool_choice: JsonValue | undefined;
  readonly parallel_tool_calls: boolean | undefined;
}

/** Converts the tools: those that the client runs become functions, those that the vendor runs become hosted tools. */
export function chatTools(body: JsonObject, context: BridgeContext): ChatToolMembers {
  const { tools, hosted } = readTools(body, context);
  const choice = object(body, "tool_choice");
  const chosen = hosted.find(({ called }) => choice?.["type"] === "tool" && called === choice["name"]);
  if (chosen === undefined) checkForced(choice, tools, hosted);
  return {
    tools: tools.length === 0 ? undefined : tools,
    ...hostedMembers(hosted, chosen),
    tool_choice: tools.length + hosted.length === 0 || chosen ? undefined : toToolChoice(choice),
    parallel_tool_calls: tools.length > 0 && choice?.["disable_parallel_tool_use"] === true ? false : undefined,
  };
}

/** Reads the tools; `hosted` are those that the vendor runs, including MCP servers. */
function readTools(body: JsonObject, context: BridgeContext): { tools: JsonObject[]; hosted: JsonObject[] } {
  const tools: JsonObject[] = [];
  const hosted: JsonObject[] = listMcpServers(body);
  for (const tool of objects(body, "tools")) {
    if (hosted.length > 0 && isToolset(tool)) continue;
    const described = object(tool, "input_schema") === undefined ? asFunction(tool) : tool;
    if (described !== undefined) tools.push(toFunctionTool(described, context));
    else hosted.push(toHostedTool(tool));
  }
  return { tools, hosted };
}

function checkForced(
  choice: JsonObject | undefined,
  tools: readonly JsonObject[],
  hosted: readonly JsonObject[],
): void {
  const type = text(choice, "type");
  const isMissing =
    type === "tool"
      ? !tools.some((tool) => readToolName(tool) === chosenName(choice))
      : tools.length + hosted.length === 0;
  if (isMissing && (type === "any" || type === "tool")) throw unsupportedParameter("tool_choice");
}

const HOSTED: Readonly<Record<string, HostedKind>> = {
  web_search: "web_search",
  web_fetch: "web_fetch",
  code_execution: "code_execution",
};

/** Builds a hosted tool with options in Anthropic's form, which has the most of them. */
function toHostedTool({ type, name, cache_control: _mark, ...options }: JsonObject): JsonObject {
  const dated = typeof type === "string" ? type : "unknown";
  const kind = HOSTED[dated.replace(/_\d{8}$/, "")] ?? "other";
  return { ...hostedTool(kind, dated, options), called: name };
}

/** Builds a function. A schema that is strict here may not be strict for OpenAI, which refuses optional members. */
function toFunctionTool(tool: JsonObject, context: BridgeContext): JsonObject {
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

function readToolName(tool: JsonObject): string {
  return anyText(object(tool, "function"), "name");
}

function chosenName(choice: JsonObject | undefined): string {
  return chatName(anyText(choice, "name"));
}

function toToolChoice(choice: JsonObject | undefined): JsonValue | undefined {
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
