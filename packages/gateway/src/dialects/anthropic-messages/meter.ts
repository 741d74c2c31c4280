import { parseEvents } from "../../lib/text/sse.ts";
import { splitAtError } from "../core/upstream-error.ts";
import { hasText, hasValue, lastRead, mayHoldError, needle } from "../core/scan.ts";
import type { UsageMeter, UpstreamErrorEvent, Usage } from "../core/types.ts";
import { AnthropicTotals } from "./totals.ts";

const USAGE = needle("usage");
const STOP_REASON = needle("stop_reason");
const MESSAGE_STOP = needle("message_stop");
const ERROR = needle("error", 1);

/** Meter of a messages stream: input counts come first, output counts last, and each may repeat the other. */
export class MessagesMeter implements UsageMeter {
  readonly #totals = new AnthropicTotals();
  #usage: Usage | undefined;
  finished = false;
  terminated = false;
  error: UpstreamErrorEvent | undefined;

  get usage(): Usage | undefined {
    return this.#usage;
  }

  feed(blocks: Buffer): void {
    const failed = mayHoldError(blocks, ERROR) ? splitAtError(blocks) : undefined;
    this.error ??= failed?.error;
    const answer = failed?.before ?? blocks;
    if (lastRead(answer, USAGE, (usage) => usage) !== undefined) this.#readUsage(answer);
    this.finished ||= hasText(answer, STOP_REASON);
    this.terminated ||= hasValue(answer, MESSAGE_STOP);
  }

  /**
   * Reads usage from `blocks`, in which several events may carry it: message_start and message_delta of a short answer.
   */
  #readUsage(blocks: Buffer): void {
    for (const { data } of parseEvents(blocks)) {
      const message = data?.["message"];
      const usage =
        data?.["usage"] ??
        (typeof message === "object" && message !== null && !Array.isArray(message) ? message["usage"] : undefined);
      if (typeof usage === "object" && usage !== null && !Array.isArray(usage)) this.#totals.see(usage);
    }
    this.#usage = this.#totals.usage;
  }
}
