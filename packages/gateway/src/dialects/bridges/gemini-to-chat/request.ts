import { unsupportedParameter } from "../../../lib/app-error.ts";
import { gFlag, gList, gNumber, gObject, gObjects, gText, gValue } from "../../gemini-generate/fields.ts";
import { anyText, compact, isObject, isSet, object, objects } from "../../core/read.ts";
import type { BridgeContext, HostedKind } from "../../core/bridge.ts";
import type { JsonObject, JsonValue } from "../../core/types.ts";
import { noteDropped, noteDroppedIn } from "../parts/answer/dropped-fields.ts";
import { convertGeminiBudget, readEffort, takesEffort } from "../parts/reasoning/effort.ts";
import { hostedTool } from "../parts/tools/hosted-tools.ts";
import { jsonSchema } from "../parts/schemas/json-schema.ts";
import { toChatMessages } from "./contents.ts";

const CARRIED = new Set([
  "model",
  "contents",
  "systemInstruction",
  "system_instruction",
  "generationConfig",
  "generation_config",
  "tools",
  "toolConfig",
  "tool_config",
  "cachedContent",
  "cached_content",
]);

/** Members of `generationConfig` that chat has an equivalent for; the others are reported as dropped. */
const CONFIG = new Set([
  "maxOutputTokens",
  "temperature",
  "topP",
  "topK",
  "candidateCount",
  "stopSequences",
  "seed",
  "presencePenalty",
  "frequencyPenalty",
  "responseLogprobs",
  "logprobs",
  "responseMimeType",
  "responseSchema",
  "responseJsonSchema",
  "_responseJsonSchema",
  "responseModalities",
  "speechConfig",
  "thinkingConfig",
]);

/** Converts a generateContent request to the body of an equivalent chat request. */
export function toChat(body: JsonObject, context: BridgeContext): JsonObject {
  noteDropped(body, CARRIED, context);
  if (isSet(gValue(body, "cachedContent"))) throw unsupportedParameter("cachedContent", "Send what is cached instead.");
  const config = gObject(body, "generationConfig");
  noteDroppedIn("generationConfig", withHumps(config), CONFIG, context);
  const stops = gList(config, "stopSequences");
  return compact({
    model: context.upstreamModel,
    messages: toChatMessages(body, context),
    max_tokens: gNumber(config, "maxOutputTokens"),
    temperature: gNumber(config, "temperature"),
    top_p: gNumber(config, "topP"),
    fw_top_k: gNumber(config, "topK"),
    n: (gNumber(config, "candidateCount") ?? 1) > 1 ? gNumber(config, "candidateCount") : undefined,
    stop: stops.length === 0 ? undefined : [...stops],
    seed: gNumber(config, "seed"),
    presence_penalty: gNumber(config, "presencePenalty"),
    frequency_penalty: gNumber(config, "frequencyPenalty"),
    logprobs: gFlag(config, "responseLogprobs"),
    top_logprobs: gNumber(config, "logprobs"),
    response_format: toResponseFormat(config),
    ...buildModalities(config),
    ...buildReasoning(gObject(config, "thinkingConfig"), context),
    ...buildTools(body, context),
    stream: context.spec.stream ? true : undefined,
  });
}

function withHumps(config: JsonObject | undefined): JsonObject | undefined {
  if (config === undefined) return undefined;
  return Object.fromEntries(Object.entries(config).map(([key, value]) => [camelCased(key), value]));
}

function camelCased(key: string): string {
  return key.replaceAll(/(?<=[a-z])_([a-z])/g, (_all, letter: string) => letter.toUpperCase());
}

/**
 * Returns the response format. Throws for a bare word of a list as the answer, which other protocols cannot request.
 */
function toResponseFormat(config: JsonObject | undefined): JsonObject | undefined {
  const type = gText(config, "responseMimeType") ?? "text/plain";
  if (type !== "application/json" && type !== "text/plain")
    throw unsupportedParameter("generationConfig.responseMimeType", "Ask for application/json with a schema instead.");
  if (type === "text/plain") return undefined;
  const raw = gObject(config, "responseJsonSchema") ?? gObject(config, "_responseJsonSchema");
  const own = gObject(config, "responseSchema");
  const schema = raw ?? (own && jsonSchema(own));
  return schema === undefined
    ? { type: "json_object" }
    : { type: "json_schema", json_schema: { name: "answer", schema } };
}

/** Returns the modalities: every chat model answers with text; images and sound must be requested. */
function buildModalities(config: JsonObject | undefined): JsonObject {
  const modalities = gList(config, "responseModalities").flatMap((name) =>
    typeof name === "string" ? [name.toLowerCase()] : [],
  );
  if (modalities.every((name) => name === "text")) return {};
  const voice = gObject(gObject(gObject(config, "speechConfig"), "voiceConfig"), "prebuiltVoiceConfig");
  const name = gText(voice, "voiceName");
  return compact({ modalities, audio: name === undefined ? undefined : { voice: name, format: "pcm16" } });
}

function buildReasoning(thinking: JsonObject | undefined, context: BridgeContext): JsonObject {
  const budget = gNumber(thinking, "thinkingBudget");
  const level = gText(thinking, "thinkingLevel")?.toLowerCase();
  const effort = readEffort(level) ?? (budget === undefined ? undefined : convertGeminiBudget(budget));
  if (effort === undefined) return gFlag(thinking, "includeThoughts") === true ? { fw_show_thinking: true } : {};
  if (effort === "none") return { fw_reasoning: "none" };
  if (!takesEffort(context.upstreamModel)) {
    context.dropped("thinkingConfig");
    return { fw_reasoning: effort };
  }
  return compact({ reasoning_effort: effort, fw_thinking_budget: budget, fw_show_thinking: true });
}

function buildTools(body: JsonObject, context: BridgeContext): JsonObject {
  const tools = toolList(body).flatMap((tool) => {
    const declarations = gObjects(tool, "functionDeclarations");
    for (const declaration of declarations) noteDroppedIn("tools.functionDeclarations", declaration, DECLARED, context);
    return declarations.map(toFunctionTool);
  });
  const hosted = toolList(body).flatMap(toHostedTools);
  const config = gObject(gObject(body, "toolConfig"), "functionCallingConfig");
  const mode = gText(config, "mode")?.toUpperCase();
  const names = gList(config, "allowedFunctionNames");
  const fw_hosted = hosted.length === 0 ? undefined : hosted;
  if (tools.length === 0) {
    if (mode === "ANY") throw unsupportedParameter("toolConfig");
    return compact({ fw_hosted });
  }
  return compact({ tools: allowed(tools, mode, names), fw_hosted, tool_choice: toToolChoice(mode, names) });
}

const DECLARED = new Set(["name", "description", "parameters", "parametersJsonSchema", "parameters_json_schema"]);
const HOSTED: Readonly<Record<string, HostedKind>> = {
  googleSearch: "web_search",
  googleSearchRetrieval: "web_search",
  urlContext: "web_fetch",
  codeExecution: "code_execution",
};

function toHostedTools(tool: JsonObject): JsonObject[] {
  return Object.keys(tool).flatMap((key) => {
    const name = camelCased(key);
    if (name === "functionDeclarations" || !isSet(tool[key])) return [];
    const { excludeDomains, exclude_domains: excluded = excludeDomains, ...options } = object(tool, key) ?? {};
    const blocked = Array.isArray(excluded) && excluded.length > 0 ? { blocked_domains: excluded } : {};
    return [hostedTool(HOSTED[name] ?? "other", name, { ...options, ...blocked })];
  });
}

/** Returns the list of tools; a single tool may be written without a list. */
function toolList(body: JsonObject): readonly JsonObject[] {
  return isObject(body["tools"]) ? [body["tools"]] : objects(body, "tools");
}

function toFunctionTool(declaration: JsonObject): JsonObject {
  const raw = gObject(declaration, "parametersJsonSchema");
  const own = object(declaration, "parameters");
  return {
    type: "function",
    function: compact({
      name: anyText(declaration, "name"),
      description: declaration["description"],
      parameters: raw ?? (own && jsonSchema(own)),
    }),
  };
}

/** Returns the allowed tools: for several allowed names, or one that is not forced, the others are not offered. */
function allowed(tools: readonly JsonObject[], mode: string | undefined, names: readonly JsonValue[]): JsonObject[] {
  const isLimited = mode === "ANY" ? names.length > 1 : mode === "VALIDATED" && names.length > 0;
  if (!isLimited) return [...tools];
  return tools.filter((tool) => names.includes(anyText(object(tool, "function"), "name")));
}

function toToolChoice(mode: string | undefined, names: readonly JsonValue[]): JsonValue | undefined {
  switch (mode) {
    case "AUTO":
      return "auto";
    case "NONE":
      return "none";
    case "ANY":
      return names.length === 1 ? { type: "function", function: { name: names[0] ?? "" } } : "required";
    default:
      return undefined;
  }
}
