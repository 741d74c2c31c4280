import { parseEvents } from "../../lib/text/sse.ts";
import { isSet, objects } from "../core/read.ts";
import { endsWithDone, hasText, lastRead, mayHoldError, namesError, needle } from "../core/scan.ts";
import type { JsonObject, UsageMeter, UpstreamErrorEvent, Usage } from "../core/types.ts";
import { errorOfEvent, readError, readSentence } from "../core/upstream-error.ts";
import { readChatUsage } from "../core/usage.ts";

/** A choice that ended in an error: nothing more of it is reported. */
export function failedChoice(answer: JsonObject): UpstreamErrorEvent | undefined {
  const hasFailed = objects(answer, "choices").some((choice) => choice["finish_reason"] === "error");
  return hasFailed ? readError("The upstream ended the answer with an error.") : undefined;
}

/** An event without choices and usage that says something is no part of an answer. */
export function sentenceIn(event: JsonObject): UpstreamErrorEvent | undefined {
  return event["choices"] === undefined && !isSet(event["usage"]) ? readSentence(event) : undefined;
}

const USAGE = needle("usage");
const FINISH = needle("finish_reason");
const ERROR = needle("error", 1);

/** Meter of chat and text completions: usage may sit on any chunk, next to the choices or inside of one. */
export class ChatMeter implements UsageMeter {
  usage: Usage | undefined;
  finished = false;
  terminated = false;
  error: UpstreamErrorEvent | undefined;
  #isBegun = false;

  feed(blocks: Buffer): void {
    if (!this.#isBegun) this.#begin(blocks);
    this.usage = lastRead(blocks, USAGE, readChatUsage) ?? this.usage;
    this.finished ||= hasText(blocks, FINISH);
    this.terminated ||= endsWithDone(blocks);
    if (this.error === undefined && (mayHoldError(blocks, ERROR) || namesError(blocks))) this.error = findError(blocks);
  }

  /** Some servers refuse in a stream as they do in whole answers: the first event is a sentence. */
  #begin(blocks: Buffer): void {
    this.#isBegun = true;
    if (!blocks.includes(CHOICES)) this.error = findSentence(blocks);
  }
}

const CHOICES = Buffer.from('choices"');

function findSentence(blocks: Buffer): UpstreamErrorEvent | undefined {
  const [first] = parseEvents(blocks).filter(({ data }) => data !== undefined);
  return first?.data && sentenceIn(first.data);
}

/** The first event of these blocks that reports a failure. */
export function findError(blocks: Buffer): UpstreamErrorEvent | undefined {
  for (const event of parseEvents(blocks)) {
    const error = errorOfEvent(event) ?? (event.data && failedChoice(event.data));
    if (error !== undefined) return error;
  }
  return undefined;
}
