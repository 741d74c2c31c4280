import type { Dialect, JsonObject, UsageMeter } from "../../dialects/core/types.ts";
import { firstEvent } from "../../lib/text/sse.ts";
import type { ResponseDecoder } from "../../providers/core/response-decoder.ts";
import { classifyStreamEvent } from "../conversion/event-kind.ts";
import { StreamClosing } from "./stream-closing.ts";
import { holdsContent } from "./stream-beginning.ts";

/** Converts an upstream's whole answer to the client's, if the protocols differ. */
export type AnswerTranslation = ((answer: JsonObject) => JsonObject) | undefined;

/** How the answer of one upstream is read. */
export interface UpstreamAnswerReader {
  readonly decoder: ResponseDecoder;
  /** Protocol of the decoder's output. */
  readonly upstream: Dialect;
  readonly translate: AnswerTranslation;
  /** True if the upstream streams without being asked, and says so: its events are combined. */
  readonly isEventStream: boolean;
}

/** Collects the events of a stream whose client asked for a whole answer; it ends like a stream that is passed on. */
export class CollectedEvents {
  readonly #decoder: ResponseDecoder;
  readonly #reader: Pick<UpstreamAnswerReader, "upstream">;
  readonly #meter: UsageMeter;
  readonly #closing: StreamClosing;
  readonly #blocks: Buffer[] = [];
  /** True if some event belongs to an answer. */
  hasPart = false;

  /** `end` is called when the upstream has sent everything but does not close. */
  constructor(reader: Pick<UpstreamAnswerReader, "decoder" | "upstream">, answers: number, end: () => void) {
    this.#decoder = reader.decoder;
    this.#reader = reader;
    this.#meter = reader.upstream.meter();
    this.#closing = new StreamClosing(this.#meter, answers, end);
  }

  get isTerminated(): boolean {
    return this.#meter.terminated;
  }

  get isFinished(): boolean {
    return this.#meter.finished;
  }

  /** Throws if the chunk cannot be framed or converted. */
  add(chunk: Buffer): void {
    this.#keep(this.#decoder.feed(chunk));
  }

  /** Returns all events of the stream. */
  end(): Buffer {
    this.#closing.stop();
    this.#keep(this.#decoder.rest());
    this.#closing.stop();
    return Buffer.concat(this.#blocks);
  }

  stop(): void {
    this.#closing.stop();
  }

  #keep(blocks: Buffer | undefined): void {
    if (blocks) {
      const { upstream } = this.#reader;
      this.#blocks.push(blocks);
      this.#meter.feed(blocks);
      this.hasPart ||=
        firstEvent(blocks, (event) => classifyStreamEvent(event, upstream.classifyEvent) !== "metadata") !== undefined;
      if (this.#meter.finished) this.#closing.note(blocks, () => holdsContent(blocks, upstream));
    }
    if (this.#decoder.fault !== undefined) throw this.#decoder.fault;
  }
}
