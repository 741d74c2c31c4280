import type { Dialect, JsonObject, UsageMeter } from "../../dialects/core/types.ts";
import { firstEvent, parseEvents } from "../../lib/text/sse.ts";
import { readErrorEvent } from "../../providers/core/errors/classify.ts";
import { emptyStream, unreadable, type Failure } from "../upstream/failure.ts";
import { classifyStreamEvent } from "../conversion/event-kind.ts";
import type { SinkContext, UpstreamStream } from "./sink.ts";

/** Most bytes that an upstream may send before the first event of its answer. */
const MAX_METADATA_BYTES = 64 * 1024;
/** Most bytes of events without content, not counting what the upstream repeats of the request. */
const MAX_OPENING_BYTES = 256 * 1024;
/** Events of one answer that may repeat the instructions and tools of its request. */
const MAX_ECHOES = 3;

/** The answer begins: its events so far, as they came and as the client gets them. */
export interface Begun {
  readonly events: Buffer;
  readonly sent: Buffer;
  readonly hasContent: boolean;
  /** True if the answer ended without content because the prompt was refused. */
  readonly isRefused: boolean;
}

/**
 * Holds the events before the first content of an answer. Content decides: until the client would see some, another
 * channel may serve and nothing is owed. Every event is judged on its own, whatever else its read of the socket holds.
 */
export class StreamBeginning {
  readonly #context: SinkContext;
  readonly #stream: UpstreamStream;
  readonly #meter: UsageMeter;
  readonly #events: Buffer[] = [];
  readonly #sent: Buffer[] = [];
  #size = 0;
  /** True if the upstream has begun an answer. */
  hasOpened = false;
  /** True if the upstream has sent something that the client has not seen yet, or never will. */
  #hasUnseen = false;
  #isRefused = false;

  constructor(context: SinkContext, stream: UpstreamStream, meter: UsageMeter) {
    this.#context = context;
    this.#stream = stream;
    this.#meter = meter;
  }

  /**
   * Reads one event. Returns the begun answer if the event has content or ends the answer, the failure if it shows that
   * no content will come, and undefined while further events decide.
   */
  read(block: Buffer): Begun | Failure | undefined {
    this.#meter.feed(block);
    const [event] = parseEvents(block);
    const kind = event ? classifyStreamEvent(event, this.#stream.upstream.classifyEvent) : "metadata";
    const failure = this.#refusal(block) ?? (kind === "unreadable" ? misfit() : undefined);
    if (failure) return failure;
    const { translation } = this.#stream;
    const sent = translation ? translation.blocks(block) : block;
    if (translation?.fault !== undefined) return unreadable(translation.fault);
    this.#hold(block, sent);
    if (event?.data) this.#note(event.data, kind === "part");
    return this.#decide(kind === "part" && holdsContent(sent, this.#context.dialect));
  }

  #hold(block: Buffer, sent: Buffer): void {
    this.#events.push(block);
    this.#sent.push(sent);
    this.#size += block.length;
  }

  #note(event: JsonObject, isPart: boolean): void {
    const { upstream } = this.#stream;
    this.hasOpened ||= isPart;
    this.#hasUnseen ||= isPart && upstream.hasContent(event);
    this.#isRefused ||= upstream.isRefusal?.(event) === true;
  }

  #decide(hasContent: boolean): Begun | Failure | undefined {
    const { finished, terminated } = this.#meter;
    // A conversion may hold tool calls back until the end.
    if (hasContent || finished) return this.#begun(hasContent || this.#hasUnseen);
    if (terminated) return this.#hasUnseen ? this.#begun(true) : emptyStream();
    if (!this.hasOpened) return this.#size > MAX_METADATA_BYTES ? misfit() : undefined;
    return this.#size > this.#calculateMaxHeld() ? this.#begun(false) : undefined;
  }

  #begun(hasContent: boolean): Begun {
    return {
      events: Buffer.concat(this.#events),
      sent: Buffer.concat(this.#sent),
      hasContent,
      isRefused: this.#isRefused && !hasContent,
    };
  }

  #calculateMaxHeld(): number {
    return MAX_OPENING_BYTES + MAX_ECHOES * this.#context.request.body.bytes.length;
  }

  #refusal(block: Buffer): Failure | undefined {
    const { provider } = this.#context.target.plan;
    if (provider.classify) {
      const first = firstEvent(block, (event) => event.raw !== "");
      const upstreamError = first && this.#stream.decoder.refusal(Buffer.from(first.raw));
      if (upstreamError) return this.#context.refused(upstreamError);
    }
    return this.#meter.error && this.#context.refused(readErrorEvent(provider, this.#meter.error));
  }
}

/** True if some event of these blocks shows the client a piece of the answer. */
export function holdsContent(blocks: Buffer, dialect: Dialect): boolean {
  return firstEvent(blocks, ({ data }) => data !== undefined && dialect.hasContent(data)) !== undefined;
}

function misfit(): Failure {
  return unreadable(new Error("the stream does not begin as its protocol requires"));
}
