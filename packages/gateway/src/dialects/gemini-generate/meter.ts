import { splitAtError } from "../core/upstream-error.ts";
import { hasText, lastRead, mayHoldError, needle } from "../core/scan.ts";
import type { UsageMeter, UpstreamErrorEvent, Usage } from "../core/types.ts";
import { readGeminiUsage } from "../core/usage.ts";

const USAGE = needle("usageMetadata");
const FINISH = needle("finishReason");
const BLOCK = needle("blockReason");
const ERROR = needle("error", 1);

/** Meter of a generateContent stream: usage is cumulative, and the stream ends with the connection. */
export class GeminiMeter implements UsageMeter {
  usage: Usage | undefined;
  finished = false;
  readonly terminated = false;
  error: UpstreamErrorEvent | undefined;

  feed(blocks: Buffer): void {
    const failed = mayHoldError(blocks, ERROR) ? splitAtError(blocks) : undefined;
    this.error ??= failed?.error;
    const answer = failed?.before ?? blocks;
    this.usage = lastRead(answer, USAGE, readGeminiUsage) ?? this.usage;
    this.finished ||= hasText(answer, FINISH) || hasText(answer, BLOCK);
  }
}
