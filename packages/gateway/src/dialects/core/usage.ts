import { count, object, objects } from "./read.ts";
import { NO_USAGE, type JsonObject, type Usage } from "./types.ts";
import { UsageDoubts } from "./usage-doubts.ts";

type Counts = Partial<Omit<Usage, "source">>;

/** Completes the normal form. A part is never more than its whole; cached tokens may include sound and images. */
export function toUsage(counts: Counts, doubts = new UsageDoubts()): Usage {
  const usage = { ...NO_USAGE, ...counts };
  const { input, output } = usage;
  const cachedInput = doubts.part("cached_over_input", usage.cachedInput, input);
  const cacheWrite = doubts.part("cache_write_over_input", usage.cacheWrite, input - cachedInput);
  const audioInput = doubts.part("audio_over_input", usage.audioInput, input);
  const imageInput = doubts.part("image_over_input", usage.imageInput, input);
  const fit = {
    cachedInput,
    cacheWrite,
    cacheWrite1h: Math.min(usage.cacheWrite1h, cacheWrite),
    audioInput: Math.min(audioInput, input - cachedInput),
    imageInput: Math.min(imageInput, Math.max(0, input - cachedInput - audioInput)),
    reasoning: doubts.part("reasoning_over_output", usage.reasoning, output),
    audioOutput: doubts.part("audio_over_output", usage.audioOutput, output),
  };
  return { ...usage, ...fit, ...doubts.members };
}

/** Returns sound or images that were not cached; cached ones cost the same as cached text. */
function fresh(doubts: UsageDoubts, details: JsonObject | undefined, key: "audio_tokens" | "image_tokens"): number {
  return Math.max(0, doubts.tokens(details, key) - doubts.tokens(object(details, "cached_tokens_details"), key));
}

/** Reads a count from the first of two members that holds one. */
function anyCount(doubts: UsageDoubts, from: JsonObject | undefined, key: string, other: string): number | undefined {
  return doubts.count(from, key) ?? doubts.count(from, other);
}

/**
 * Reads usage of chat completions and protocols that copy it, also under the names of Responses; undefined if no count
 * is readable.
 */
export function readChatUsage(usage: JsonObject | undefined): Usage | undefined {
  const doubts = new UsageDoubts();
  const total = doubts.count(usage, "total_tokens");
  const prompt = anyCount(doubts, usage, "prompt_tokens", "input_tokens");
  const completion = anyCount(doubts, usage, "completion_tokens", "output_tokens");
  if (usage === undefined || (total === undefined && prompt === undefined && completion === undefined))
    return undefined;
  const { input, output } = completed(prompt, completion, total, doubts);
  const inputDetails = object(usage, "prompt_tokens_details");
  const outputDetails = object(usage, "completion_tokens_details");
  return toUsage(
    {
      input,
      output,
      cachedInput: doubts.count(inputDetails, "cached_tokens") ?? vendorCached(usage, doubts),
      // Proxies in front of other protocols use another name for cache writes.
      cacheWrite: anyCount(doubts, inputDetails, "cache_write_tokens", "cache_creation_tokens") ?? 0,
      reasoning: doubts.count(outputDetails, "reasoning_tokens") ?? doubts.tokens(usage, "reasoning_tokens"),
      audioInput: fresh(doubts, inputDetails, "audio_tokens"),
      audioOutput: doubts.tokens(outputDetails, "audio_tokens"),
      imageInput: fresh(doubts, inputDetails, "image_tokens"),
    },
    doubts,
  );
}

/** Returns both sides; a missing one is the total minus the other. */
function completed(
  input: number | undefined,
  output: number | undefined,
  total: number | undefined,
  doubts: UsageDoubts,
): { readonly input: number; readonly output: number } {
  if (input !== undefined && output !== undefined) doubts.total(total, input + output);
  const known = input ?? Math.max(0, (total ?? 0) - (output ?? 0));
  return { input: known, output: output ?? Math.max(0, (total ?? known) - known) };
}

/** Reads cached tokens that are not in the details, as DeepSeek, Together and Mistral report them. */
function vendorCached(usage: JsonObject, doubts: UsageDoubts): number {
  return (
    anyCount(doubts, usage, "prompt_cache_hit_tokens", "cached_tokens") ?? doubts.tokens(usage, "num_cached_tokens")
  );
}

/** Reads usage of Responses, images and audio: `input_tokens` and `output_tokens` with optional details. */
export function readResponsesUsage(usage: JsonObject | undefined): Usage | undefined {
  const doubts = new UsageDoubts();
  const said = { input: doubts.count(usage, "input_tokens"), output: doubts.count(usage, "output_tokens") };
  if (usage === undefined || (said.input === undefined && said.output === undefined)) return undefined;
  const { input, output } = completed(said.input, said.output, doubts.count(usage, "total_tokens"), doubts);
  const inputDetails = object(usage, "input_tokens_details") ?? object(usage, "input_token_details");
  const outputDetails = object(usage, "output_tokens_details") ?? object(usage, "output_token_details");
  return toUsage(
    {
      input,
      output,
      cachedInput: doubts.tokens(inputDetails, "cached_tokens"),
      cacheWrite: doubts.tokens(inputDetails, "cache_write_tokens"),
      reasoning: doubts.tokens(outputDetails, "reasoning_tokens"),
      audioInput: fresh(doubts, inputDetails, "audio_tokens"),
      audioOutput: doubts.tokens(outputDetails, "audio_tokens"),
      imageInput: fresh(doubts, inputDetails, "image_tokens"),
    },
    doubts,
  );
}

/**
 * Reads Anthropic's usage, which counts cache reads and writes next to `input_tokens`; the normal form includes them in
 * `input`. Tokens that the vendor spent to compact a conversation are only in the iterations.
 */
export function readAnthropicUsage(usage: JsonObject | undefined): Usage | undefined {
  const answer = readMessageUsage(usage);
  const shortened = objects(usage, "iterations").filter((iteration) => iteration["type"] === "compaction");
  return shortened.length === 0 ? answer : shortened.map(readMessageUsage).reduce(plus, answer);
}

function plus(a: Usage | undefined, b: Usage | undefined): Usage | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const doubts = (a.doubts ?? b.doubts) && { doubts: { ...a.doubts, ...b.doubts } };
  return {
    ...a,
    input: a.input + b.input,
    output: a.output + b.output,
    cachedInput: a.cachedInput + b.cachedInput,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    cacheWrite1h: a.cacheWrite1h + b.cacheWrite1h,
    reasoning: a.reasoning + b.reasoning,
    ...doubts,
  };
}

function readMessageUsage(usage: JsonObject | undefined): Usage | undefined {
  const doubts = new UsageDoubts();
  const fresh = doubts.count(usage, "input_tokens");
  const output = doubts.count(usage, "output_tokens");
  if (usage === undefined || (fresh === undefined && output === undefined)) return undefined;
  const read = doubts.tokens(usage, "cache_read_input_tokens");
  const { write, hour } = cacheWrites(usage, doubts);
  return toUsage(
    {
      input: (fresh ?? 0) + read + write,
      output: output ?? 0,
      cachedInput: read,
      cacheWrite: write,
      cacheWrite1h: hour,
      reasoning: doubts.tokens(object(usage, "output_tokens_details"), "thinking_tokens"),
    },
    doubts,
  );
}

/** Reads cache writes for minutes, for an hour and in total; if they contradict each other, the larger figure wins. */
function cacheWrites(usage: JsonObject, doubts: UsageDoubts): { readonly write: number; readonly hour: number } {
  const created = object(usage, "cache_creation");
  const hour = doubts.tokens(created, "ephemeral_1h_input_tokens");
  const minutes = doubts.count(created, "ephemeral_5m_input_tokens");
  const total = doubts.count(usage, "cache_creation_input_tokens");
  const parts = (minutes ?? 0) + hour;
  if (total !== undefined && minutes !== undefined && total !== parts) doubts.note("cache_write_contradicts", parts);
  return { write: Math.max(total ?? 0, parts), hour };
}

/**
 * Reads Gemini's usage, which counts thoughts and tool prompts separately from candidates and prompt; cached tokens
 * cost the same as cached text.
 */
export function readGeminiUsage(usage: JsonObject | undefined): Usage | undefined {
  const doubts = new UsageDoubts();
  const prompt = doubts.count(usage, "promptTokenCount");
  const total = doubts.count(usage, "totalTokenCount");
  if (usage === undefined || (prompt === undefined && total === undefined)) return undefined;
  const tools = doubts.tokens(usage, "toolUsePromptTokenCount");
  const thoughts = doubts.tokens(usage, "thoughtsTokenCount");
  const candidates = doubts.count(usage, "candidatesTokenCount");
  const said = candidates === undefined ? undefined : candidates + thoughts;
  const rest = total === undefined ? undefined : total - tools;
  const { input, output } = completed(prompt, said, rest, doubts);
  const uncached = (name: string) =>
    Math.max(0, modality(usage, "promptTokensDetails", name) - modality(usage, "cacheTokensDetails", name));
  return toUsage(
    {
      input: input + tools,
      output: Math.max(output, thoughts),
      cachedInput: doubts.tokens(usage, "cachedContentTokenCount"),
      reasoning: thoughts,
      audioInput: uncached("AUDIO"),
      imageInput: uncached("IMAGE"),
      audioOutput: modality(usage, "candidatesTokensDetails", "AUDIO"),
    },
    doubts,
  );
}

function modality(usage: JsonObject, key: string, name: string): number {
  const details = objects(usage, key).filter((detail) => detail["modality"] === name);
  return details.reduce((sum, detail) => sum + (count(detail, "tokenCount") ?? 0), 0);
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

/** Writes usage of Responses. The details are not optional in this protocol: clients read them without a check. */
export function responsesUsage(usage: Usage): JsonObject {
  return {
    input_tokens: usage.input,
    input_tokens_details: { cached_tokens: usage.cachedInput, cache_write_tokens: usage.cacheWrite },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: usage.input + usage.output,
  };
}

/**
 * Writes the usage of a message. No member is optional in this protocol; values that only the vendor knows are null.
 */
export function anthropicUsage(usage: Usage): JsonObject {
  return { ...anthropicCounts(usage), inference_geo: null, service_tier: null, speed: null };
}

/** Writes the usage counts at the end of a streamed message. */
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
