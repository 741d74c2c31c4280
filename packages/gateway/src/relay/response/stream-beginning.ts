import type { Dialect, EventKind, UsageMeter } from "../../dialects/core/types.ts";
import { firstEvent } from "../../lib/text/sse.ts";
import { readErrorEvent } from "../../providers/core/errors/classify.ts";
import type { ResponseDecoder } from "../../providers/core/response-decoder.ts";
import { emptyStream, unreadable, type Failure } from "../upstream/failure.ts";
import { kindOfFirst } from "./event-blocks.ts";
import type { SinkContext, UpstreamStream } from "./sink.ts";

/** Most bytes that an upstream may send before the first part of its answer. */
const MAX_EARLY_BYTES = 64 * 1024;

/** The events before the first part of an answer. That part decides: until it comes, another channel may serve. */
export class StreamBeginning {
  readonly #context: SinkContext;
  readonly #upstream: Dialect;
  readonly #decoder: ResponseDecoder;
  readonly #meter: UsageMeter;
  #early: Buffer = Buffer.alloc(0);

  constructor(context: SinkContext, { upstream, decoder }: UpstreamStream, meter: UsageMeter) {
    this.#context = context;
    this.#upstream = upstream;
    this.#decoder = decoder;
    this.#meter = meter;
  }

  /**
   * `blocks` are whole events that the meter has read. Returns all events so far when they hold a part of the answer,
   * the failure when they show that none will come, and undefined when more events decide.
   */
  read(blocks: Buffer): Buffer | Failure | undefined {
    this.#early = this.#early.length === 0 ? blocks : Buffer.concat([this.#early, blocks]);
    const kind = kindOfFirst(blocks, this.#upstream);
    return this.#refusal(blocks) ?? this.#misfit(kind) ?? (kind === "part" ? this.#early : undefined);
  }

  #refusal(blocks: Buffer): Failure | undefined {
    const { target } = this.#context;
    if (target.plan.provider.classify) {
      const first = firstEvent(blocks, (event) => event.raw !== "");
      const upstreamError = first && this.#decoder.refusal(Buffer.from(first.raw));
      if (upstreamError) return this.#context.refused(upstreamError);
    }
    return this.#meter.error && this.#context.refused(readErrorEvent(target.plan.provider, this.#meter.error));
  }

  /** The failure of a stream that does not begin as its protocol requires. */
  #misfit(kind: EventKind): Failure | undefined {
    if (kind === "part") return undefined;
    if (kind === "metadata" && this.#meter.terminated) return emptyStream();
    const isNone = kind === "unreadable" || this.#early.length > MAX_EARLY_BYTES;
    return isNone ? unreadable(new Error("the stream does not begin as its protocol requires")) : undefined;
  }
}
