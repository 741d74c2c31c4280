import { unsupportedParameter } from "../../../lib/app-error.ts";
import { compact, isObject, object, objects, text } from "../../read.ts";
import type { BridgeContext, JsonObject, JsonValue } from "../../types.ts";
import { noteDropped, noteForeign } from "../parts/dropped.ts";
import { geminiModel } from "../parts/gemini-models.ts";
import { contentsOf } from "./contents.ts";
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
/** Clients of other protocols expect answers, not filters; a channel or a request may say otherwise. */
const SAFETY: readonly JsonObject[] = [
  ...HARMS.map((harm) => ({ category: `HARM_CATEGORY_${harm}`, threshold: "OFF" })),
  { category: "HARM_CATEGORY_CIVIC_INTEGRITY", threshold: "BLOCK_NONE" },
];

/** The body of a generateContent request that asks for the same as a chat request; the model stands in the path. */
export function toGemini(body: JsonObject, context: BridgeContext): JsonObject {
  const bias = object(body, "logit_bias");
  if (bias !== undefined && Object.keys(bias).length > 0) throw unsupportedParameter("logit_bias");
  noteDropped(body, CARRIED, context);
  const model = geminiModel(context.upstreamModel);
  const messages = objects(body, "messages");
  noteForeign(messages, context);
  const system = messages.filter(isSystem).flatMap(systemParts);
  const turns = messages.filter((message) => !isSystem(message));
  const contents = contentsOf(turns, model, context);
  const cached = text(body, "cachedContent") ?? text(body, "cached_content") ?? text(body, "fw_cached_content");
  const tools = cached === undefined ? geminiTools(body, context) : undefined;
  return compact({
    systemInstruction: system.length === 0 || model.isGemma || cached !== undefined ? undefined : { parts: system },
    contents: model.isGemma ? withSystem(contents, system) : contents,
    generationConfig: generationConfig(body, model, context),
    tools: tools?.tools,
    toolConfig: tools?.toolConfig,
    safetySettings: safetyOf(body, context),
    cachedContent: cached,
  });
}

function isSystem(message: JsonObject): boolean {
  return message["role"] === "system" || message["role"] === "developer";
}

function systemParts(message: JsonObject): JsonObject[] {
  const content = message["content"];
  if (typeof content === "string") return textPart(content);
  return Array.isArray(content) ? content.filter(isObject).flatMap((part) => textPart(text(part, "text") ?? "")) : [];
}

/** Gemma takes no system instruction: it leads the first turn of the user. */
function withSystem(contents: readonly JsonObject[], system: readonly JsonObject[]): JsonObject[] {
  if (system.length === 0) return [...contents];
  const [first, ...rest] = contents;
  if (first?.["role"] !== "user") return [{ role: "user", parts: [...system] }, ...contents];
  return [{ role: "user", parts: [...system, ...objects(first, "parts")] }, ...rest];
}

function safetyOf(body: JsonObject, context: BridgeContext): JsonValue {
  const asked =
    body["safety_settings"] ??
    body["safetySettings"] ??
    body["fw_safety_settings"] ??
    context.setting["safety_settings"];
  return Array.isArray(asked) ? asked : [...SAFETY];
}
