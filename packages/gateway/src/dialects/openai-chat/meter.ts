import { parseEvents } from "../../lib/text/sse.ts";
import { count, isSet } from "../core/read.ts";
import { endsWithDone, hasText, lastRead, mayHoldError, namesError, needle } from "../core/scan.ts";
import type { JsonObject, UsageMeter, UpstreamErrorEvent, Usage } from "../core/types.ts";
import { readSentence, splitAtError } from "../core/upstream-error.ts";
import { readChatUsage, toUsage } from "../core/usage.ts";

/** Returns the error in an event that has a sentence but neither choices nor usage, and so is not part of an answer. */
export function sentenceIn(event: JsonObject): UpstreamErrorEvent | undefined {
  return event["choices"] === undefined && !isSet(event["usage"]) ? readSentence(event) : undefined;
}

const USAGE = needle("usage");
/** llama-server reports counts in its timings, even if usage was not requested or is missing. */
const TIMINGS = needle("timings");
const FINISH = needle("finish_reason");
const ERROR = needle("error", 1);
const MESSAGE = needle("message");

/** Meter of chat and text completions: usage may be on any chunk, next to the choices or inside one. */
export class ChatMeter implements UsageMeter {
  usage: Usage | undefined;
  finished = false;
  terminated = false;
  error: UpstreamErrorEvent | undefined;
  #isBegun = false;

  feed(blocks: Buffer): void {
    if (!this.#isBegun) this.#begin(blocks);
    const failed = mayFail(blocks) ? splitAtError(blocks) : undefined;
    this.error ??= failed?.error;
    const answer = failed?.before ?? blocks;
    this.usage = lastRead(answer, USAGE, readChatUsage) ?? lastRead(answer, TIMINGS, readTimings) ?? this.usage;
    this.finished ||= hasText(answer, FINISH);
    this.terminated ||= endsWithDone(answer);
  }

  /** Reads the first event: some servers refuse a stream with a sentence, as in whole answers. */
  #begin(blocks: Buffer): void {
    this.#isBegun = true;
    if (!blocks.includes(CHOICES)) this.error = findSentence(blocks);
  }
}

function readTimings(timings: JsonObject): Usage | undefined {
  const prompt = count(timings, "prompt_n");
  const output = count(timings, "predicted_n");
  if (prompt === undefined || output === undefined) return undefined;
  const cachedInput = count(timings, "cache_n") ?? 0;
  return toUsage({ input: prompt + cachedInput, output, cachedInput });
}

/** True if an event may hold an error or a sentence with a code, or is named `error`. */
function mayFail(blocks: Buffer): boolean {
  return mayHoldError(blocks, ERROR) || hasText(blocks, MESSAGE) || namesError(blocks);
}

const CHOICES = Buffer.from('choices"');

function findSentence(blocks: Buffer): UpstreamErrorEvent | undefined {
  const [first] = parseEvents(blocks).filter(({ data }) => data !== undefined);
  return first?.data && sentenceIn(first.data);
}
