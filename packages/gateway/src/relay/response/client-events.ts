import type { Dialect, JsonObject, Usage, UsageMeter } from "../../dialects/core/types.ts";
import { firstEvent } from "../../lib/text/sse.ts";
import type { StreamTranslation } from "../conversion/translate.ts";
import { cutEvents, cutUsageEvents, withoutTerminator } from "./event-blocks.ts";
import type { SinkContext, UpstreamStream } from "./sink.ts";

const NOTHING = Buffer.alloc(0);
const EMPTY_CHOICES = Buffer.from('"choices":[]');
const NULL_DELTA = Buffer.from('"delta":null');

/**
 * Prepares the events of a stream as its client requested them: complete, and without usage that only the gateway
 * reads.
 */
export class ClientEvents {
  readonly #context: SinkContext;
  readonly #upstream: Dialect;
  readonly #translation: StreamTranslation | undefined;
  readonly #meter: UsageMeter;
  /** An event whose names a chunk with usage repeats; held for clients that request such a chunk. */
  #head: JsonObject | undefined;

  constructor(context: SinkContext, { upstream, translation }: UpstreamStream, meter: UsageMeter) {
    this.#context = context;
    this.#upstream = upstream;
    this.#translation = translation;
    this.#meter = meter;
  }

  /** `blocks` are the first events of the answer. */
  begin(blocks: Buffer): void {
    if (this.#translation === undefined && this.#context.request.spec.wantsStreamUsage)
      this.#head = firstEvent(blocks, ({ data }) => data !== undefined)?.data;
  }

  /** If both sides speak the same protocol, only the usage that the gateway requested is removed. */
  edit(blocks: Buffer, hasNewUsage: boolean): Buffer {
    const { spec, isPlayground } = this.#context.request;
    const edited =
      hasNewUsage && !spec.wantsStreamUsage
        ? cutUsageEvents(blocks, (event) => this.#upstream.isUsageOnly(event))
        : (this.#upstream.tidy?.(blocks) ?? blocks);
    return isPlayground ? this.#editForPlayground(edited) : edited;
  }

  /** Playgrounds take every event of an answer for a chunk whose choices have an object `delta`. */
  #editForPlayground(blocks: Buffer): Buffer {
    const isEarly = !this.#meter.finished && blocks.includes(EMPTY_CHOICES);
    const cut = isEarly ? cutEvents(blocks, hasNoChoices) : blocks;
    return cut.includes(NULL_DELTA) ? Buffer.from(cut.toString("utf8").replaceAll('"delta":null', '"delta":{}')) : cut;
  }

  /** Returns the last bytes of the answer; `last` are its last events, already in the client's protocol. */
  last(last: Buffer, usage: Usage): Buffer {
    const { terminator = NOTHING } = this.#context.dialect;
    if (!this.#translation) return Buffer.concat([withoutTerminator(last), ...this.#missingEvents(usage), terminator]);
    const rest = this.#translation.end(usage);
    return Buffer.concat([withoutTerminator(Buffer.concat([last, rest])), terminator]);
  }

  /** Returns final events that an upstream of the client's protocol left out. */
  #missingEvents(usage: Usage): Buffer[] {
    const { dialect, request } = this.#context;
    const lacksUsage = request.spec.wantsStreamUsage && !this.#meter.usage;
    const added = lacksUsage ? dialect.usageEvent(usage, this.#head) : undefined;
    return [added ?? NOTHING, (!this.#meter.terminated && dialect.closing) || NOTHING];
  }
}

function hasNoChoices(event: { choices?: unknown }): boolean {
  return Array.isArray(event.choices) && event.choices.length === 0;
}
