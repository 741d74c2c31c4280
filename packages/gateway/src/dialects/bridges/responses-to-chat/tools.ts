import { unsupportedParameter } from "../../../lib/app-error.ts";
import { anyText, compact, isObject, list, object, objects, text } from "../../core/read.ts";
import type { HostedKind } from "../../core/bridge.ts";
import type { JsonObject, JsonValue } from "../../core/types.ts";
import { hostedMembers, hostedTool } from "../parts/tools/hosted-tools.ts";
import { clientFunction, findClientTool } from "./client-tools.ts";
import type { SpecialTool } from "./asked.ts";
import { SEARCH, upstreamName, readUpstreamName } from "./tool-names.ts";

export interface ReadTools {
  readonly members: JsonObject;
  readonly special: ReadonlyMap<string, SpecialTool>;
}

/**
 * Reads the tools: functions, free-text tools and the client's tools become functions; hosted tools are passed by kind.
 */
export function chatTools(body: JsonObject): ReadTools {
  const special = new Map<string, SpecialTool>();
  const tools = new Map<string, JsonObject>();
  const hosted: JsonObject[] = [];
  for (const tool of offeredTools(body)) {
    const read = readTool(tool);
    if (read === undefined) hosted.push(toHostedTool(tool));
    else if (!tools.has(read.name)) {
      tools.set(read.name, read.tool);
      if (read.special !== undefined) special.set(read.name, read.special);
    }
  }
  const offered = [...tools.values()];
  const asked = body["tool_choice"];
  const chosen = isObject(asked) ? hosted.find(({ name }) => name === asked["type"]) : undefined;
  const choice = chosen ? undefined : toToolChoice(asked, offered, hosted);
  const parallel = body["parallel_tool_calls"];
  const members = compact({
    tools: offered.length === 0 ? undefined : offered,
    ...hostedMembers(hosted, chosen),
    tool_choice: offered.length + hosted.length === 0 ? undefined : choice,
    parallel_tool_calls: offered.length > 0 && parallel === false ? false : undefined,
  });
  return { members, special };
}

const HOSTED: Readonly<Record<string, HostedKind>> = {
  web_search: "web_search",
  web_search_preview: "web_search",
  code_interpreter: "code_execution",
  mcp: "mcp",
};

/** Builds a hosted tool with options in Anthropic's form, which has the most of them. */
function toHostedTool(tool: JsonObject): JsonObject {
  const { type, filters, ...options } = tool;
  const name = typeof type === "string" ? type : "unknown";
  const kind = holdsFiles(tool) ? "other" : (HOSTED[name.replace(/_\d{4}_\d\d_\d\d$/, "")] ?? "other");
  return hostedTool(kind, name, { ...options, ...(isObject(filters) && filters) });
}

/** True for a container that already exists or starts with files, which no other upstream has. */
function holdsFiles({ container }: JsonObject): boolean {
  return typeof container === "string" || (isObject(container) && list(container, "file_ids").length > 0);
}

/**
 * Returns all offered tools: coding agents may also offer them as items of the conversation, or find them during it.
 */
function offeredTools(body: JsonObject): JsonObject[] {
  const later = objects(body, "input").filter(
    ({ type }) => type === "additional_tools" || type === "tool_search_output",
  );
  return [body, ...later].flatMap((holder) => objects(holder, "tools")).flatMap(listToolMembers);
}

/**
 * Returns the tools of a namespace, which is described once. Tools that are marked for later loading are included,
 * because nothing else would load them.
 */
function listToolMembers(tool: JsonObject): JsonObject[] {
  const members = tool["type"] === "namespace" ? objects(tool, "tools") : [];
  if (members.length === 0) return [tool];
  const namespace = text(tool, "name");
  const about = text(tool, "description");
  return members.map((member, at) => {
    const reported = [text(member, "description"), at === 0 ? about : undefined].filter((words) => words !== undefined);
    return compact({ ...member, namespace, description: reported.length === 0 ? undefined : reported.join("\n\n") });
  });
}

interface ReadTool {
  readonly name: string;
  readonly tool: JsonObject;
  readonly special?: SpecialTool;
}

function readTool(tool: JsonObject): ReadTool | undefined {
  const own = anyText(tool, "name");
  const namespace = text(tool, "namespace");
  const name = upstreamName(own, namespace);
  const named = { name: own, ...(namespace !== undefined && { namespace }) };
  switch (tool["type"]) {
    case "function":
      return {
        name,
        tool: toFunctionTool(tool, name),
        ...(name !== own && { special: { kind: "function", ...named } }),
      };
    case "custom":
      return { name, tool: freeTextFunction(tool, name), special: { kind: "free text", ...named } };
    case "tool_search":
      if (tool["execution"] !== "client") return undefined;
      return { name: SEARCH, tool: toFunctionTool(tool, SEARCH), special: { kind: "search", name: SEARCH } };
    default: {
      const known = findClientTool(tool);
      if (known === undefined) return undefined;
      return { name: known, tool: clientFunction(known), special: { kind: "client", name: known } };
    }
  }
}

function toFunctionTool(tool: JsonObject, name: string): JsonObject {
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

/** Builds a function for a free-text tool; the grammar of the input is part of its description. */
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

function toToolChoice(
  choice: JsonValue | undefined,
  tools: readonly JsonObject[],
  hosted: readonly JsonObject[],
): JsonValue | undefined {
  if (choice === "required" && tools.length + hosted.length === 0) throw unsupportedParameter("tool_choice");
  if (!isObject(choice)) return typeof choice === "string" ? choice : undefined;
  const offered = new Set(tools.map((tool) => anyText(object(tool, "function"), "name")));
  if (choice["type"] === "allowed_tools") return allowedChoice(choice, offered);
  const name = chosenName(choice);
  if (name === undefined || !offered.has(name)) throw unsupportedParameter("tool_choice");
  return { type: "function", function: { name } };
}

function chosenName(choice: JsonObject): string | undefined {
  return readUpstreamName(choice) ?? findClientTool(choice);
}

/** Returns the choice without hosted tools that were dropped. */
function allowedChoice(choice: JsonObject, offered: ReadonlySet<string>): JsonValue {
  const mode = text(choice, "mode") ?? "auto";
  const names = objects(choice, "tools").flatMap((tool) => chosenName(tool) ?? []);
  const tools = names.filter((name) => offered.has(name)).map((name) => ({ type: "function", function: { name } }));
  if (tools.length > 0) return { type: "allowed_tools", allowed_tools: { mode, tools } };
  if (mode === "required") throw unsupportedParameter("tool_choice");
  return "none";
}
