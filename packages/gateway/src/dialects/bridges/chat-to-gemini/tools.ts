import { compact, object } from "../../core/read.ts";
import type { BridgeContext, JsonObject } from "../../core/types.ts";
import { readChatTools, type ChatFunction, type ChatTools } from "../parts/tools/chat-tools.ts";
import { geminiSchema } from "../parts/schemas/gemini-schema.ts";

/** Functions of these names stand for tools that the provider runs itself. */
const BUILT_IN = new Set(["googleSearch", "codeExecution", "urlContext"]);

export interface GeminiTools {
  readonly tools: JsonObject[] | undefined;
  readonly toolConfig: JsonObject | undefined;
}

export function geminiTools(body: JsonObject, context: BridgeContext): GeminiTools {
  const read = readChatTools(body, context);
  if (body["parallel_tool_calls"] === false && read.functions.length > 0) context.dropped("parallel_tool_calls");
  const own = read.functions.filter(({ name }) => !BUILT_IN.has(name));
  const builtIn = read.functions.filter(({ name }) => BUILT_IN.has(name));
  const tools: JsonObject[] = builtIn.map(({ name }) => ({ [name]: {} }));
  const isRaw = context.setting["parameters_json_schema"] === true;
  if (own.length > 0) tools.push({ functionDeclarations: own.map((tool) => declaration(tool, isRaw)) });
  return {
    tools: tools.length === 0 ? undefined : tools,
    toolConfig: own.length === 0 ? undefined : configOf(read),
  };
}

/** Without properties the parameters are left out: an empty object is refused. */
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

function configOf({ choice }: ChatTools): JsonObject | undefined {
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
