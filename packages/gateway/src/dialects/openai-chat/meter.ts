import { parseEvents } from "../../lib/sse.ts";
import { endsWithDone, hasText, lastObject, mayHoldError, namesError, needle } from "../scan.ts";
import type { Meter, UpstreamErrorEvent, Usage } from "../types.ts";
import { errorOfEvent } from "../upstream-error.ts";
import { readChatUsage } from "../usage.ts";

const USAGE = needle("usage");
const FINISH = needle("finish_reason");
const ERROR = needle("error", 1);

/** Meter of chat and text completions: usage may sit on any chunk, beside the choices or inside of one. */
export class ChatMeter implements Meter {
  usage: Usage | undefined;
  finished = false;
  terminated = false;
  error: UpstreamErrorEvent | undefined;

  feed(blocks: Buffer): void {
    const usage = lastObject(blocks, USAGE);
    if (usage !== undefined) this.usage = readChatUsage(usage) ?? this.usage;
    this.finished ||= hasText(blocks, FINISH);
    this.terminated ||= endsWithDone(blocks);
    if (this.error === undefined && (mayHoldError(blocks, ERROR) || namesError(blocks))) this.error = findError(blocks);
  }
}

/** The first event of these blocks that reports a failure. */
export function findError(blocks: Buffer): UpstreamErrorEvent | undefined {
  for (const event of parseEvents(blocks)) {
    const error = errorOfEvent(event);
    if (error !== undefined) return error;
  }
  return undefined;
}
