import { unsupportedParameter } from "../../../../lib/app-error.ts";
import { object, objects, text } from "../../../core/read.ts";
import type { BridgeContext } from "../../../core/bridge.ts";
import type { JsonObject } from "../../../core/types.ts";
import { readPartKind, unsupportedPart } from "../answer/refused.ts";
import { readToolChoice, type ToolChoice } from "./tool-choice.ts";

export interface ChatFunction {
  readonly name: string;
  /** Set if the tool takes text of this format (a grammar or nothing) instead of arguments. */
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
  /** Tools that the upstream itself runs. */
  readonly hosted: readonly JsonObject[];
}

export interface ToolOptions {
  /** True if the upstream has tools whose input is free text. */
  readonly takesFreeText?: boolean;
}

/** Reads the functions of a chat request and the choice among them; throws if it forces a tool that was left out. */
export function readChatTools(body: JsonObject, context: BridgeContext, options: ToolOptions = {}): ChatTools {
  const asked = readToolChoice(body["tool_choice"] ?? legacyChoice(body));
  const read = (tool: JsonObject) =>
    options.takesFreeText === true && object(tool, "custom") !== undefined
      ? freeTextTool(tool)
      : readTool(tool, context);
  const functions = [...objects(body, "tools").flatMap(read), ...legacyFunctions(body)];
  const hosted = objects(body, "fw_hosted");
  if (asked?.mode !== "allowed") {
    checkForced(asked, functions.length + hosted.length, functions);
    return { functions, hosted, choice: functions.length + hosted.length === 0 ? undefined : asked };
  }
  const allowed = functions.filter(({ name }) => asked.names.includes(name));
  if (asked.isForced && allowed.length === 0) throw unsupportedParameter("tool_choice");
  return {
    hosted,
    functions: allowed,
    choice: allowed.length === 0 ? undefined : { mode: asked.isForced ? "required" : "auto" },
  };
}

/** Returns what a call in the history calls; throws for an unknown kind of call. */
export function calledIn(call: JsonObject, context: BridgeContext): JsonObject {
  const target = object(call, "function") ?? object(call, "custom");
  if (target === undefined) throw unsupportedPart(`messages.tool_calls.${readPartKind(call)}`, context);
  return target;
}

function readTool(tool: JsonObject, context: BridgeContext): ChatFunction[] {
  const target = object(tool, "function");
  const name = text(target, "name");
  if (target === undefined || name === undefined) throw unsupportedPart(`tools.${readPartKind(tool)}`, context);
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

function checkForced(choice: ToolChoice | undefined, count: number, functions: readonly ChatFunction[]): void {
  const isForced = choice?.mode === "required" || choice?.mode === "named";
  const isThere = choice?.mode === "named" ? functions.some(({ name }) => name === choice.name) : count > 0;
  if (isForced && !isThere) throw unsupportedParameter("tool_choice");
}
