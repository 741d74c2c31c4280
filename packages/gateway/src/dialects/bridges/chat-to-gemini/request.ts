import { compact, object, objects, text } from "../../core/read.ts";
import type { BridgeContext } from "../../core/bridge.ts";
import type { JsonObject, JsonValue } from "../../core/types.ts";
import { noteDropped, noteForeign } from "../parts/answer/dropped-fields.ts";
import { geminiModel } from "../parts/models/gemini-models.ts";
import { checkFormat } from "../parts/schemas/format.ts";
import { jsonInstructions } from "../parts/schemas/json-instruction.ts";
import { refuseBias } from "../parts/answer/refused.ts";
import { onlyTexts } from "../parts/content/text-parts.ts";
import { withUserTurn } from "../parts/content/system-only-prompt.ts";
import { toGeminiContents } from "./contents.ts";
import { generationConfig } from "./generation.ts";
import { textPart } from "./parts.ts";
import { geminiTools } from "./tools.ts";

const CARRIED = new Set([
  "model",
  "messages",
  "stream",
  "stream_options",
  "max_tokens",
  "max_completion_tokens",
  "temperature",
  "top_p",
  "top_k",
  "n",
  "stop",
  "seed",
  "presence_penalty",
  "frequency_penalty",
  "logprobs",
  "top_logprobs",
  "tools",
  "functions",
  "tool_choice",
  "function_call",
  "parallel_tool_calls",
  "response_format",
  "reasoning_effort",
  "reasoning",
  "modalities",
  "audio",
  "image_config",
  "thinking_config",
  "safety_settings",
  "safetySettings",
  "cachedContent",
  "cached_content",
]);

const HARMS = ["HARASSMENT", "HATE_SPEECH", "SEXUALLY_EXPLICIT", "DANGEROUS_CONTENT"];
/** Filters are off, because clients of other protocols expect answers; a channel or a request may set other values. */
const SAFETY: readonly JsonObject[] = [
  ...HARMS.map((harm) => ({ category: `HARM_CATEGORY_${harm}`, threshold: "OFF" })),
  { category: "HARM_CATEGORY_CIVIC_INTEGRITY", threshold: "BLOCK_NONE" },
];

const FIRST_WITH_JSON_WITH_TOOLS = 300;

/** Converts a chat request to the body of an equivalent generateContent request; the model is in the path. */
export function toGemini(asked: JsonObject, context: BridgeContext): JsonObject {
  const body = withUserTurn(withGoogleBody(asked));
  refuseBias(body);
  checkFormat(body, context);
  noteDropped(body, CARRIED, context);
  const model = geminiModel(context.upstreamModel);
  const messages = objects(body, "messages");
  noteForeign(messages, context);
  const cached = readCachedContent(body);
  const tools = cached === undefined ? geminiTools(body, context) : undefined;
  const inWords = tools?.tools !== undefined && model.version < FIRST_WITH_JSON_WITH_TOOLS;
  const instructions = inWords ? jsonInstructions(body) : [];
  const system = [
    ...messages.filter(isSystem).flatMap((message) => systemParts(message, context)),
    ...instructions.flatMap(textPart),
  ];
  const turns = messages.filter((message) => !isSystem(message));
  const contents = toGeminiContents(turns, model, context);
  return compact({
    ...(model.isGemma
      ? { contents: withSystem(contents, system) }
      : { systemInstruction: buildInstruction(system, cached), contents }),
    generationConfig: generationConfig(inWords ? { ...body, response_format: null } : body, model, context),
    tools: tools?.tools,
    toolConfig: tools?.toolConfig,
    safetySettings: resolveSafetySettings(body, context),
    cachedContent: cached,
  });
}

/** Adds `extra_body.google`, which Google's own chat endpoint takes: Gemini's members in snake case. */
function withGoogleBody(body: JsonObject): JsonObject {
  const google = object(object(body, "extra_body"), "google");
  if (google === undefined) return body;
  const { extra_body: _extra, ...rest } = body;
  const thinking = object(google, "thinking_config");
  return { ...rest, ...google, ...(thinking && { thinking_config: camelCased(thinking) }) };
}

function camelCased(from: JsonObject): JsonObject {
  const camel = (name: string) => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(from).map(([name, value]) => [camel(name), value]));
}

/** Returns the system instruction; undefined with cached content, which already contains it. */
function buildInstruction(system: JsonObject[], cached: string | undefined): JsonObject | undefined {
  return system.length === 0 || cached !== undefined ? undefined : { parts: system };
}

function readCachedContent(body: JsonObject): string | undefined {
  return text(body, "cachedContent") ?? text(body, "cached_content") ?? text(body, "fw_cached_content");
}

function isSystem(message: JsonObject): boolean {
  return message["role"] === "system" || message["role"] === "developer";
}

function systemParts(message: JsonObject, context: BridgeContext): JsonObject[] {
  return onlyTexts(message["content"], context).flatMap(textPart);
}

/** Puts the system instruction at the start of the first user turn, because Gemma takes none. */
function withSystem(contents: readonly JsonObject[], system: readonly JsonObject[]): JsonObject[] {
  if (system.length === 0) return [...contents];
  const [first, ...rest] = contents;
  if (first?.["role"] !== "user") return [{ role: "user", parts: [...system] }, ...contents];
  return [{ role: "user", parts: [...system, ...objects(first, "parts")] }, ...rest];
}

function resolveSafetySettings(body: JsonObject, context: BridgeContext): JsonValue {
  const asked =
    body["safety_settings"] ??
    body["safetySettings"] ??
    body["fw_safety_settings"] ??
    context.setting["safety_settings"];
  return Array.isArray(asked) ? asked : [...SAFETY];
}
