import { unsupportedParameter } from "../../../../lib/app-error.ts";
import { isSet, object, objects, text } from "../../../core/read.ts";
import type { BridgeContext, JsonObject } from "../../../core/types.ts";
import { readToolChoice, type ToolChoice } from "./tool-choice.ts";

export interface ChatFunction {
  readonly name: string;
  /** The tool takes text of this format (a grammar or nothing) instead of arguments. */
  readonly freeText?: JsonObject;
  readonly description: string | undefined;
  readonly parameters: JsonObject | undefined;
  readonly strict: boolean;
  /** The tool as the client wrote it, for cache marks. */
  readonly tool: JsonObject;
}

export interface ChatTools {
  readonly functions: readonly ChatFunction[];
  readonly choice: ToolChoice | undefined;
}

export interface ToolOptions {
  /** The upstream has tools whose input is free text. */
  readonly takesFreeText?: boolean;
}

/**
 * The functions of a chat request and how to choose among them. Hosted tools that are merely offered are dropped;
 * a choice that forces something that is not left is refused.
 */
export function readChatTools(body: JsonObject, context: BridgeContext, options: ToolOptions = {}): ChatTools {
  // Answers without a search that the client asked for would look like answers with one.
  if (isSet(body["web_search_options"])) throw unsupportedParameter("web_search_options");
  const asked = readToolChoice(body["tool_choice"] ?? legacyChoice(body));
  const read = (tool: JsonObject) =>
    options.takesFreeText === true && object(tool, "custom") !== undefined
      ? freeTextTool(tool)
      : readTool(tool, context);
  const functions = [...objects(body, "tools").flatMap(read), ...legacyFunctions(body)];
  if (asked?.mode !== "allowed") {
    checkForced(asked, functions);
    return { functions, choice: functions.length === 0 ? undefined : asked };
  }
  const allowed = functions.filter(({ name }) => asked.names.includes(name));
  if (asked.isForced && allowed.length === 0) throw unsupportedParameter("tool_choice");
  return {
    functions: allowed,
    choice: allowed.length === 0 ? undefined : { mode: asked.isForced ? "required" : "auto" },
  };
}

function readTool(tool: JsonObject, context: BridgeContext): ChatFunction[] {
  const target = object(tool, "function");
  const name = text(target, "name");
  if (target === undefined || name === undefined) {
    context.dropped(`tools.${text(tool, "type") ?? "unknown"}`);
    return [];
  }
  return [
    {
      name,
      description: text(target, "description"),
      parameters: object(target, "parameters"),
      strict: target["strict"] === true,
      tool,
    },
  ];
}

function freeTextTool(tool: JsonObject): ChatFunction[] {
  const target = object(tool, "custom");
  const name = text(target, "name");
  if (name === undefined) return [];
  const format = object(target, "format") ?? {};
  const grammar = object(format, "grammar");
  const freeText = grammar === undefined ? format : { type: "grammar", ...grammar };
  const description = text(target, "description");
  return [{ name, description, parameters: undefined, strict: false, tool, freeText }];
}

function legacyFunctions(body: JsonObject): ChatFunction[] {
  return objects(body, "functions").flatMap((target) => {
    const name = text(target, "name");
    if (name === undefined) return [];
    return [
      {
        name,
        description: text(target, "description"),
        parameters: object(target, "parameters"),
        strict: false,
        tool: target,
      },
    ];
  });
}

function legacyChoice(body: JsonObject): JsonObject[string] {
  const choice = body["function_call"];
  return typeof choice === "object" && choice !== null && !Array.isArray(choice)
    ? { type: "function", function: choice }
    : choice;
}

function checkForced(choice: ToolChoice | undefined, functions: readonly ChatFunction[]): void {
  const isForced = choice?.mode === "required" || choice?.mode === "named";
  const isThere = choice?.mode === "named" ? functions.some(({ name }) => name === choice.name) : functions.length > 0;
  if (isForced && !isThere) throw unsupportedParameter("tool_choice");
}
