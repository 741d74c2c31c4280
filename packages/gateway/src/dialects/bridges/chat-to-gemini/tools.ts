import { unsupportedParameter } from "../../../lib/app-error.ts";
import { compact, list, object, text } from "../../core/read.ts";
import type { BridgeContext } from "../../core/bridge.ts";
import type { JsonObject } from "../../core/types.ts";
import { readChatTools, type ChatFunction, type ChatTools } from "../parts/tools/chat-tools.ts";
import { isMissed, noteOptions } from "../parts/tools/hosted-tools.ts";
import { unsupportedPart } from "../parts/answer/refused.ts";
import { geminiSchema } from "../parts/schemas/gemini-schema.ts";

/** Functions with these names mean tools that the provider runs itself. */
const BUILT_IN = new Set(["googleSearch", "codeExecution", "urlContext"]);

export interface GeminiTools {
  readonly tools: JsonObject[] | undefined;
  readonly toolConfig: JsonObject | undefined;
}

export function geminiTools(body: JsonObject, context: BridgeContext): GeminiTools {
  const read = readChatTools(body, context);
  if (read.hosted.length > 0 && read.choice?.mode === "required") throw unsupportedParameter("tool_choice");
  if (body["parallel_tool_calls"] === false && read.functions.length > 0) context.dropped("parallel_tool_calls");
  const own = read.functions.filter(({ name }) => !BUILT_IN.has(name));
  const builtIn = read.functions.filter(({ name }) => BUILT_IN.has(name));
  const tools: JsonObject[] = builtIn.map(({ name }) => ({ [name]: {} }));
  tools.push(...hostedTools(read, body, context));
  const isRaw = context.setting["parameters_json_schema"] === true;
  if (own.length > 0) tools.push({ functionDeclarations: own.map((tool) => declaration(tool, isRaw)) });
  return {
    tools: tools.length === 0 ? undefined : tools,
    toolConfig: own.length === 0 ? undefined : buildToolConfig(read),
  };
}

const HOSTED: Readonly<Record<string, string>> = {
  web_search: "googleSearch",
  web_fetch: "urlContext",
  code_execution: "codeExecution",
};

/**
 * Returns the hosted tools. Most models take no function next to them, and none can be forced to use one or limited to
 * some addresses.
 */
function hostedTools({ functions, hosted }: ChatTools, body: JsonObject, context: BridgeContext): JsonObject[] {
  const chosen = body["fw_hosted_choice"];
  if (chosen !== undefined && hosted.length > 0) throw unsupportedParameter("tool_choice");
  return hosted.flatMap((tool) => {
    const name = `tools.${text(tool, "name") ?? "unknown"}`;
    const limit = ["allowed_domains", "blocked_domains"].find((member) => list(tool, member).length > 0);
    if (functions.length > 0) {
      if (isMissed(tool)) throw unsupportedPart(name, context);
      context.dropped(name);
      return [];
    }
    if (limit !== undefined) throw unsupportedPart(`${name}.${limit}`, context);
    noteOptions(tool, [], context);
    return [{ [HOSTED[text(tool, "kind") ?? ""] ?? "googleSearch"]: {} }];
  });
}

/** Builds a declaration. Parameters without properties are left out, because an empty object is refused. */
function declaration({ name, description, parameters }: ChatFunction, isRaw: boolean): JsonObject {
  const properties = object(parameters, "properties");
  const isEmpty =
    parameters === undefined ||
    (Object.keys(properties ?? {}).length === 0 &&
      parameters["$ref"] === undefined &&
      parameters["allOf"] === undefined);
  return compact({
    name,
    description,
    parameters: isEmpty || isRaw ? undefined : geminiSchema(parameters),
    parametersJsonSchema: isEmpty || !isRaw ? undefined : parameters,
  });
}

function buildToolConfig({ choice }: ChatTools): JsonObject | undefined {
  switch (choice?.mode) {
    case "auto":
      return { functionCallingConfig: { mode: "AUTO" } };
    case "none":
      return { functionCallingConfig: { mode: "NONE" } };
    case "required":
      return { functionCallingConfig: { mode: "ANY" } };
    case "named":
      return { functionCallingConfig: { mode: "ANY", allowedFunctionNames: [choice.name] } };
    case "allowed":
    case undefined:
      return undefined;
  }
}
