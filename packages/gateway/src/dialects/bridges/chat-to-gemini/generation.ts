import { readChoiceCount } from "../../core/request-spec.ts";
import { compact, flag, list, number, object, text } from "../../core/read.ts";
import type { BridgeContext } from "../../core/bridge.ts";
import type { JsonObject, JsonValue } from "../../core/types.ts";
import { askedThinking, type AskedThinking } from "../chat-to-anthropic/thinking.ts";
import { geminiBudget, type Effort } from "../parts/reasoning/effort.ts";
import type { GeminiModel } from "../parts/models/gemini-models.ts";
import { geminiSchema } from "../parts/schemas/gemini-schema.ts";

const MAX_STOPS = 5;
const BUDGETS: Readonly<Record<GeminiModel["tier"], readonly [number, number]>> = {
  pro: [128, 32_768],
  flash: [0, 24_576],
  "flash-lite": [512, 24_576],
  other: [0, 24_576],
};

/** Returns limits, sampling, format and thinking; undefined if the client requests none of them. */
export function generationConfig(body: JsonObject, model: GeminiModel, context: BridgeContext): JsonObject | undefined {
  const choices = readChoiceCount(body);
  const config = compact({
    temperature: number(body, "temperature"),
    topP: number(body, "top_p"),
    topK: number(body, "top_k") ?? number(body, "fw_top_k"),
    maxOutputTokens: number(body, "max_completion_tokens") ?? number(body, "max_tokens"),
    candidateCount: choices > 1 ? choices : undefined,
    stopSequences: listStops(body["stop"], context),
    seed: number(body, "seed"),
    presencePenalty: number(body, "presence_penalty"),
    frequencyPenalty: number(body, "frequency_penalty"),
    responseLogprobs: flag(body, "logprobs") === true ? true : undefined,
    logprobs: number(body, "top_logprobs"),
    ...buildFormatConfig(body, model),
    ...buildModalities(body, context),
    thinkingConfig: thinkingConfig(body, model, context),
    ...object(body, "fw_generation_config"),
  });
  return Object.keys(config).length === 0 ? undefined : config;
}

function listStops(stop: JsonValue | undefined, context: BridgeContext): JsonValue[] | undefined {
  const all = typeof stop === "string" ? [stop] : Array.isArray(stop) ? stop : [];
  if (all.length > MAX_STOPS) context.dropped("stop");
  return all.length === 0 ? undefined : all.slice(0, MAX_STOPS);
}

function buildFormatConfig(body: JsonObject, model: GeminiModel): JsonObject {
  const format = object(body, "response_format");
  if (format?.["type"] === "json_object") return { responseMimeType: "application/json" };
  if (format?.["type"] !== "json_schema") return {};
  const schema = object(object(format, "json_schema"), "schema");
  if (schema === undefined) return { responseMimeType: "application/json" };
  const written = model.version >= 205 ? { responseJsonSchema: schema } : { responseSchema: geminiSchema(schema) };
  return { responseMimeType: "application/json", ...written };
}

/** Returns the modalities. OpenAI requires text next to sound; models that only speak refuse it. */
function buildModalities(body: JsonObject, context: BridgeContext): JsonObject {
  const modalities = list(body, "modalities").flatMap((name) => (typeof name === "string" ? [name.toUpperCase()] : []));
  const isSpeaker = modalities.includes("AUDIO") && /-tts\b/.test(context.upstreamModel);
  const voiceName = text(object(body, "audio"), "voice");
  return compact({
    responseModalities: modalities.some((name) => name !== "TEXT") ? (isSpeaker ? ["AUDIO"] : modalities) : undefined,
    speechConfig: voiceName === undefined ? undefined : { voiceConfig: { prebuiltVoiceConfig: { voiceName } } },
    imageConfig: object(body, "image_config"),
  });
}

/** Returns the thinking configuration: levels from Gemini 3 on, token budgets for 2.5, nothing for older models. */
function thinkingConfig(body: JsonObject, model: GeminiModel, context: BridgeContext): JsonObject | undefined {
  const own = object(body, "thinking_config") ?? object(body, "fw_thinking_config");
  if (own !== undefined) return own;
  const asked = askedThinking(body);
  if (asked === undefined) return undefined;
  if (model.version < 205 || model.isGemma) {
    context.dropped("reasoning_effort");
    return undefined;
  }
  return buildThinkingConfig(asked, model, context);
}

function buildThinkingConfig(
  { effort, budget }: AskedThinking,
  model: GeminiModel,
  context: BridgeContext,
): JsonObject {
  if (effort === undefined && budget === undefined) return { includeThoughts: true };
  const isOn = budget !== 0 && effort !== "none";
  const amount = buildThinkingAmount(isOn ? (effort ?? "high") : "none", isOn ? budget : 0, model);
  if (isOtherEffort(isOn ? effort : "none", amount)) context.dropped("reasoning_effort");
  return isOn ? { ...amount, includeThoughts: true } : amount;
}

/**
 * True if the model gets another effort than requested: another level, or the budget of a lower effort. The effort
 * `none` needs the budget 0.
 */
function isOtherEffort(effort: Effort | undefined, { thinkingLevel, thinkingBudget }: JsonObject): boolean {
  if (effort === undefined) return false;
  if (thinkingLevel !== undefined) return thinkingLevel !== effort;
  return effort === "none" ? thinkingBudget !== 0 : effort === "xhigh" || effort === "max";
}

function buildThinkingAmount(effort: Effort, budget: number | undefined, model: GeminiModel): JsonObject {
  if (model.version >= 300) return { thinkingLevel: toThinkingLevel(effort, model) };
  return { thinkingBudget: clampBudget(budget ?? geminiBudget(effort), model) };
}

/** Clamps the budget; 0 is possible for every tier but pro. */
function clampBudget(wanted: number, { tier }: GeminiModel): number {
  const [least, most] = BUDGETS[tier];
  if (wanted === 0 && tier !== "pro") return 0;
  return Math.min(most, Math.max(least, wanted));
}

function toThinkingLevel(effort: Effort, model: GeminiModel): string {
  if (effort === "none" || effort === "minimal") return model.tier === "pro" ? "low" : "minimal";
  return effort === "xhigh" || effort === "max" ? "high" : effort;
}
