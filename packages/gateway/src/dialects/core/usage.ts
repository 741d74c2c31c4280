import { count, object, objects } from "./read.ts";
import { NO_USAGE, type JsonObject, type Usage } from "./types.ts";

type Counts = Partial<Omit<Usage, "source">>;

/** Fills up the normal form; cached tokens, sound and images together never exceed the prompt. */
export function toUsage(counts: Counts): Usage {
  const usage = { ...NO_USAGE, ...counts };
  const cachedInput = Math.min(usage.cachedInput, usage.input);
  const audioInput = Math.min(usage.audioInput, usage.input - cachedInput);
  const imageInput = Math.min(usage.imageInput, usage.input - cachedInput - audioInput);
  const isFit = cachedInput === usage.cachedInput && audioInput === usage.audioInput && imageInput === usage.imageInput;
  return isFit ? usage : { ...usage, cachedInput, audioInput, imageInput };
}

/** Sound or images that were not cached; what was cached costs what cached text costs. */
function fresh(details: JsonObject | undefined, key: "audio_tokens" | "image_tokens"): number {
  return Math.max(0, tokens(details, key) - tokens(object(details, "cached_tokens_details"), key));
}

/** A missing count is zero. */
function tokens(from: JsonObject | undefined, key: string): number {
  return count(from, key) ?? 0;
}

/** Proxies in front of other protocols have a name of their own for them. */
function cacheWrites(details: JsonObject | undefined): number {
  return anyCount(details, "cache_write_tokens", "cache_creation_tokens") ?? 0;
}

/** The first of two names that holds a count. */
function anyCount(from: JsonObject | undefined, key: string, other: string): number | undefined {
  return count(from, key) ?? count(from, other);
}

/** Usage of chat completions and everything that copies it, under the names of Responses as well; undefined when no count is readable. */
export function readChatUsage(usage: JsonObject | undefined): Usage | undefined {
  const total = count(usage, "total_tokens");
  const prompt = anyCount(usage, "prompt_tokens", "input_tokens");
  const completion = anyCount(usage, "completion_tokens", "output_tokens");
  if (usage === undefined || (total === undefined && prompt === undefined && completion === undefined))
    return undefined;
  const input = prompt ?? Math.max(0, (total ?? 0) - (completion ?? 0));
  const inputDetails = object(usage, "prompt_tokens_details");
  const outputDetails = object(usage, "completion_tokens_details");
  return toUsage({
    input,
    output: completion ?? Math.max(0, (total ?? input) - input),
    cachedInput: count(inputDetails, "cached_tokens") ?? vendorCached(usage),
    cacheWrite: cacheWrites(inputDetails),
    reasoning: count(outputDetails, "reasoning_tokens") ?? tokens(usage, "reasoning_tokens"),
    audioInput: fresh(inputDetails, "audio_tokens"),
    audioOutput: tokens(outputDetails, "audio_tokens"),
    imageInput: fresh(inputDetails, "image_tokens"),
  });
}

/** DeepSeek, Together and Mistral name cached tokens next to the others. */
function vendorCached(usage: JsonObject): number {
  return count(usage, "prompt_cache_hit_tokens") ?? count(usage, "cached_tokens") ?? tokens(usage, "num_cached_tokens");
}

/** Usage of Responses, images and audio: `input_tokens` and `output_tokens` with optional details. */
export function readResponsesUsage(usage: JsonObject | undefined): Usage | undefined {
  const input = count(usage, "input_tokens");
  const output = count(usage, "output_tokens");
  if (usage === undefined || (input === undefined && output === undefined)) return undefined;
  const inputDetails = object(usage, "input_tokens_details") ?? object(usage, "input_token_details");
  const outputDetails = object(usage, "output_tokens_details") ?? object(usage, "output_token_details");
  return toUsage({
    input: input ?? 0,
    output: output ?? 0,
    cachedInput: tokens(inputDetails, "cached_tokens"),
    cacheWrite: tokens(inputDetails, "cache_write_tokens"),
    reasoning: tokens(outputDetails, "reasoning_tokens"),
    audioInput: fresh(inputDetails, "audio_tokens"),
    audioOutput: tokens(outputDetails, "audio_tokens"),
    imageInput: fresh(inputDetails, "image_tokens"),
  });
}

/**
 * Anthropic counts cache reads and writes next to `input_tokens`; the normal form holds them inside. What the vendor
 * spent to shorten a conversation is in the iterations alone.
 */
export function readAnthropicUsage(usage: JsonObject | undefined): Usage | undefined {
  const answer = readMessageUsage(usage);
  const shortened = objects(usage, "iterations").filter((iteration) => iteration["type"] === "compaction");
  return shortened.length === 0 ? answer : shortened.map(readMessageUsage).reduce(plus, answer);
}

function plus(a: Usage | undefined, b: Usage | undefined): Usage | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return {
    ...a,
    input: a.input + b.input,
    output: a.output + b.output,
    cachedInput: a.cachedInput + b.cachedInput,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    cacheWrite1h: a.cacheWrite1h + b.cacheWrite1h,
    reasoning: a.reasoning + b.reasoning,
  };
}

function readMessageUsage(usage: JsonObject | undefined): Usage | undefined {
  const fresh = count(usage, "input_tokens");
  const output = count(usage, "output_tokens");
  if (usage === undefined || (fresh === undefined && output === undefined)) return undefined;
  const read = tokens(usage, "cache_read_input_tokens");
  const created = object(usage, "cache_creation");
  const hour = tokens(created, "ephemeral_1h_input_tokens");
  const minutes = count(created, "ephemeral_5m_input_tokens");
  const write = minutes === undefined ? Math.max(hour, tokens(usage, "cache_creation_input_tokens")) : minutes + hour;
  return toUsage({
    input: (fresh ?? 0) + read + write,
    output: output ?? 0,
    cachedInput: read,
    cacheWrite: write,
    cacheWrite1h: hour,
    reasoning: tokens(object(usage, "output_tokens_details"), "thinking_tokens"),
  });
}

/** Gemini counts thoughts and tool prompts apart from candidates and prompt; what was cached costs what cached text costs. */
export function readGeminiUsage(usage: JsonObject | undefined): Usage | undefined {
  const prompt = count(usage, "promptTokenCount");
  const total = count(usage, "totalTokenCount");
  if (usage === undefined || (prompt === undefined && total === undefined)) return undefined;
  const input = (prompt ?? 0) + tokens(usage, "toolUsePromptTokenCount");
  const thoughts = tokens(usage, "thoughtsTokenCount");
  const uncached = (name: string) =>
    Math.max(0, modality(usage, "promptTokensDetails", name) - modality(usage, "cacheTokensDetails", name));
  return toUsage({
    input,
    output: tokens(usage, "candidatesTokenCount") + thoughts,
    cachedInput: tokens(usage, "cachedContentTokenCount"),
    reasoning: thoughts,
    audioInput: uncached("AUDIO"),
    imageInput: uncached("IMAGE"),
    audioOutput: modality(usage, "candidatesTokensDetails", "AUDIO"),
  });
}

function modality(usage: JsonObject, key: string, name: string): number {
  const details = objects(usage, key).filter((detail) => detail["modality"] === name);
  return details.reduce((sum, detail) => sum + tokens(detail, "tokenCount"), 0);
}

export function chatUsage(usage: Usage): JsonObject {
  const prompt = nonZero({
    cached_tokens: usage.cachedInput,
    cache_write_tokens: usage.cacheWrite,
    audio_tokens: usage.audioInput,
    image_tokens: usage.imageInput,
  });
  const completion = nonZero({ reasoning_tokens: usage.reasoning, audio_tokens: usage.audioOutput });
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    ...(prompt && { prompt_tokens_details: prompt }),
    ...(completion && { completion_tokens_details: completion }),
  };
}

/** The details are not optional in this protocol; clients read them without looking. */
export function responsesUsage(usage: Usage): JsonObject {
  return {
    input_tokens: usage.input,
    input_tokens_details: { cached_tokens: usage.cachedInput, cache_write_tokens: usage.cacheWrite },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: usage.input + usage.output,
  };
}

/** Usage of a message. No member is optional in this protocol; what only the vendor knows is null. */
export function anthropicUsage(usage: Usage): JsonObject {
  return { ...anthropicCounts(usage), inference_geo: null, service_tier: null, speed: null };
}

/** The usage counts at the end of a streamed message. */
export function anthropicCounts(usage: Usage): JsonObject {
  return {
    input_tokens: Math.max(0, usage.input - usage.cachedInput - usage.cacheWrite),
    cache_creation_input_tokens: usage.cacheWrite,
    cache_read_input_tokens: usage.cachedInput,
    cache_creation: {
      ephemeral_5m_input_tokens: usage.cacheWrite - usage.cacheWrite1h,
      ephemeral_1h_input_tokens: usage.cacheWrite1h,
    },
    output_tokens: usage.output,
    output_tokens_details: usage.reasoning > 0 ? { thinking_tokens: usage.reasoning } : null,
    server_tool_use: null,
  };
}

export function geminiUsage(usage: Usage): JsonObject {
  return {
    promptTokenCount: usage.input,
    candidatesTokenCount: Math.max(0, usage.output - usage.reasoning),
    totalTokenCount: usage.input + usage.output,
    ...(usage.cachedInput > 0 && { cachedContentTokenCount: usage.cachedInput }),
    ...(usage.reasoning > 0 && { thoughtsTokenCount: usage.reasoning }),
  };
}

function nonZero(counts: Readonly<Record<string, number>>): JsonObject | undefined {
  const set = Object.entries(counts).filter(([, value]) => value > 0);
  return set.length === 0 ? undefined : Object.fromEntries(set);
}
