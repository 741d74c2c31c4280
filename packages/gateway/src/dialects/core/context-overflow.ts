import { count as countOf } from "./read.ts";
import type { ErrorDialect, JsonObject } from "./types.ts";

/** Code of the OpenAI protocol for a prompt that does not fit the model's context. */
export const CONTEXT_OVERFLOW = "context_length_exceeded";

/** Codes or types that mean an overflow. */
const WORDS: ReadonlySet<string | undefined> = new Set([CONTEXT_OVERFLOW, "exceed_context_size_error"]);

/** Token counts of a request that does not fit; counts that the upstream leaves out are undefined. */
interface Overflow {
  readonly input: number | undefined;
  readonly output: number | undefined;
  readonly limit: number | undefined;
}

/**
 * Sentences of vendors and inference servers. None mentions only tokens, because messages about rate limits also do.
 */
const SENTENCES: readonly RegExp[] = [
  /context[ _-]?(?:length|window|size|limit)[^.]{0,40}(?:exceed|overflow)/i,
  /exceed\w*[^.]{0,60}context[ _-]?(?:length|window|size|limit)/i,
  /maximum context (?:length|limit)/i,
  /(?:prompt|input|request|messages?) (?:is|are) too long/i,
  /prompt (?:contains|exceeds)[^.]{0,60}(?:tokens|max(?:imum)? length)/i,
  /(?:longer|greater) than the (?:model's )?context length/i,
  /input token count[^.]{0,40}exceeds/i,
  /exceeds the maximum number of tokens/i,
  /maximum (?:prompt|input) length is/i,
  /model token limit/i,
  /reduce the length of the (?:messages|prompt|input)/i,
  /range of input length should be/i,
  /input tokens exceed the configured limit/i,
  /too many tokens: size limit exceeded/i,
];

const OF_OPENAI = /maximum context length|prompt is too long|context window|context_length_exceeded|input token count/i;
const OF_ANTHROPIC = /prompt is too long|input length and `max_tokens` exceed context limit/i;
const OF_GEMINI = /input token count[^.]*exceeds the maximum/i;

/** True if an upstream's failure says that the prompt does not fit the model's context. */
export function isContextOverflow(message: string, ...words: readonly (string | undefined)[]): boolean {
  return words.some((word) => WORDS.has(word)) || SENTENCES.some((sentence) => sentence.test(message));
}

/** Returns the message with the counts that an inference server puts in members next to it. */
export function messageWithCounts(message: string, error: JsonObject): string {
  const input = countOf(error, "n_prompt_tokens");
  const limit = countOf(error, "n_ctx");
  if (input === undefined || limit === undefined || countsIn(message).limit !== undefined) return message;
  return `request (${input} tokens) exceeds the available context size (${limit} tokens): ${message}`;
}

/**
 * Returns the sentence by which clients of a protocol recognise the overflow: coding agents then compact the
 * conversation; otherwise they repeat the request or stop.
 */
export function overflowMessage(dialect: ErrorDialect, message: string): string {
  switch (dialect) {
    case "anthropic":
      return OF_ANTHROPIC.test(message) ? message : forAnthropic(message, countsIn(message));
    case "gemini":
      return OF_GEMINI.test(message) ? message : forGemini(message, countsIn(message));
    case "openai":
    case "openai-playground":
    case "openai-responses":
      return OF_OPENAI.test(message) ? message : forOpenAi(message, countsIn(message));
    default:
      return message;
  }
}

function forAnthropic(message: string, { input, output, limit }: Overflow): string {
  if (input === undefined || limit === undefined) return `prompt is too long: ${message}`;
  if (output !== undefined && input <= limit)
    return `input length and \`max_tokens\` exceed context limit: ${input} + ${output} > ${limit}, decrease input length or \`max_tokens\` and try again`;
  return `prompt is too long: ${input} tokens > ${limit} maximum`;
}

function forGemini(message: string, { input, limit }: Overflow): string {
  if (input === undefined || limit === undefined)
    return `The input token count exceeds the maximum number of tokens allowed: ${message}`;
  return `The input token count (${input}) exceeds the maximum number of tokens allowed (${limit}).`;
}

function forOpenAi(message: string, { input, limit }: Overflow): string {
  if (input === undefined || limit === undefined)
    return `This request exceeds the maximum context length of the model: ${message}`;
  return `This model's maximum context length is ${limit} tokens. However, your messages resulted in ${input} tokens. Please reduce the length of the messages.`;
}

const NUMBER = "(\\d[\\d,]*)";
/** Patterns with the numbers of their groups, in the order of `Overflow`; 0 = not in the sentence. */
const COUNTS: readonly (readonly [pattern: RegExp, input: number, output: number, limit: number])[] = [
  [new RegExp(`too long: ${NUMBER} tokens > ${NUMBER}`, "i"), 1, 0, 2],
  [new RegExp(`${NUMBER} \\+ ${NUMBER} > ${NUMBER}`, "i"), 1, 2, 3],
  [
    new RegExp(
      `length is ${NUMBER}.*?\\(${NUMBER} (?:of text input|in the messages|in your prompt)[^)]*?${NUMBER} (?:in|for|of) the`,
      "is",
    ),
    2,
    3,
    1,
  ],
  [new RegExp(`too large: ${NUMBER}.*?length is ${NUMBER}.*?has ${NUMBER} input`, "is"), 3, 1, 2],
  [
    new RegExp(
      `(?:length|window) (?:is|of) (?:only )?${NUMBER}.*?(?:resulted in|requested|contains|has|at least) (?:about |at least )?${NUMBER}`,
      "is",
    ),
    2,
    0,
    1,
  ],
  [new RegExp(`token count \\(?${NUMBER}\\)?.*?allowed \\(?${NUMBER}`, "is"), 1, 0, 2],
  [new RegExp(`contains ${NUMBER} tokens.*?${NUMBER} maximum context`, "is"), 1, 0, 2],
  [new RegExp(`request \\(${NUMBER} tokens\\).*?size \\(${NUMBER}`, "is"), 1, 0, 2],
];

function countsIn(message: string): Overflow {
  for (const [pattern, input, output, limit] of COUNTS) {
    const found = pattern.exec(message.slice(0, 4_096));
    if (found)
      return {
        input: count(found[input]),
        output: output === 0 ? undefined : count(found[output]),
        limit: count(found[limit]),
      };
  }
  return { input: undefined, output: undefined, limit: undefined };
}

function count(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text.replaceAll(",", ""));
}
