import { firstEvent } from "../../lib/text/sse.ts";
import { AppError } from "../../lib/app-error.ts";
import { breaksAfterError, errorFrame } from "../../dialects/core/errors.ts";
import type { Dialect, EventKind, JsonObject, UsageMeter, StreamPosition, Usage } from "../../dialects/core/types.ts";
import type { ResponseDecoder } from "../../providers/core/response-decoder.ts";
import { readErrorEvent } from "../../providers/core/errors/classify.ts";
import { DeliveredOutput } from "./delivered-output.ts";
import type { AnswerJudge } from "./delivery.ts";
import {
  brokenStream,
  emptyStream,
  isIdleTimeout,
  isOfUpstream,
  unreadable,
  type Failure,
} from "../upstream/failure.ts";
import {
  cutErrors,
  cutEvents,
  cutUsageEvents,
  hasData,
  isBrokenOff,
  kindOfFirst,
  stripComments,
  withoutLast,
  withoutTerminator,
} from "./event-blocks.ts";
import { forgetInlineFiles } from "../upstream/inline-files.ts";
import type { FinishReason, Completion, SinkContext, Sink } from "./sink.ts";
import { TurnBuffer } from "./turn-buffer.ts";
import type { StreamTranslation } from "../pipeline/translate.ts";
import type { TokenCounter } from "../../billing/tokenizer/token-counter.ts";

const NOTHING = Buffer.alloc(0);
/** Most bytes that an upstream may send before the first part of its answer. */
const MAX_EARLY_BYTES = 64 * 1024;
const EMPTY_CHOICES = Buffer.from('"choices":[]');
const NULL_DELTA = Buffer.from('"delta":null');

/** How the answer of one upstream is read. */
export interface UpstreamStream {
  readonly decoder: ResponseDecoder;
  /** Protocol of the decoder's output. */
  readonly upstream: Dialect;
  /** Undefined when the client speaks that protocol too. */
  readonly translation: StreamTranslation | undefined;
}

/**
 * Server-sent events from the upstream to the client. Whole event blocks are forwarded as they come; the meter
 * reads along. The last block waits until the charge is safe, so a delivered answer is always billed.
 */
export class StreamSink implements Sink {
  readonly #flow: SinkContext;
  readonly #upstream: Dialect;
  readonly #translation: StreamTranslation | undefined;
  readonly #decoder: ResponseDecoder;
  readonly #meter: UsageMeter;
  readonly #delivered: DeliveredOutput;
  readonly #position: StreamPosition | undefined;
  readonly #resume: () => void;
  readonly #arrived = new TurnBuffer((bytes) => this.#read(bytes));
  #firstContentAt: number | undefined;
  /** Events that came before the first part of the answer. */
  #early: Buffer = NOTHING;
  /** An event whose names a chunk with usage repeats; held for clients that request one. */
  #head: JsonObject | undefined;
  /** Events that came with the end of the answer and wait for its charge. */
  #held: Buffer = NOTHING;
  #isOver = false;

  constructor(flow: SinkContext, answer: UpstreamStream, counter: TokenCounter) {
    const { upstream } = answer;
    this.#flow = flow;
    this.#upstream = upstream;
    this.#translation = answer.translation;
    this.#decoder = answer.decoder;
    this.#meter = upstream.meter();
    this.#delivered = new DeliveredOutput(flow, {
      upstream,
      meter: this.#meter,
      isTranslated: answer.translation !== undefined,
      counter,
    });
    this.#position = flow.dialect.position?.();
    this.#resume = () => flow.controller.resume();
  }

  data(chunk: Buffer): void {
    if (this.#isOver) return;
    // An error right behind the first part must not take the place of that part.
    if (this.#firstContentAt === undefined) this.#read(chunk);
    else this.#arrived.add(chunk);
  }

  #read(bytes: Buffer): void {
    if (this.#isOver) return;
    this.#guarded(() => {
      const blocks = this.#decoder.feed(bytes);
      if (blocks) this.#take(blocks);
    });
  }

  /** Output that cannot be framed or converted is an upstream error, not a crash. */
  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (this.#isOver) throw error;
      if (this.#firstContentAt === undefined) {
        this.#isOver = true;
        this.#flow.finish({ kind: "failed", failure: unreadable(error) });
      } else if (isOfUpstream(error)) this.#interrupted(error, "upstream_error");
      else this.#interrupted(new AppError("upstream_invalid_stream"), "upstream_cut");
      this.#flow.controller.abort(error as Error);
    }
  }

  end(): void {
    this.#arrived.flush();
    if (this.#isOver) return;
    this.#guarded(() => {
      const rest = this.#decoder.rest();
      if (rest && !isBrokenOff(rest)) this.#take(rest);
    });
    if (this.#isOver) return;
    if (this.#firstContentAt === undefined) {
      this.#isOver = true;
      this.#flow.finish({ kind: "failed", failure: emptyStream() });
    } else if (this.#meter.finished) this.#complete();
    else this.#interrupted(new AppError("upstream_stream_interrupted"), "upstream_cut");
  }

  fail(error: Error): void {
    this.#arrived.flush();
    if (this.#isOver) return;
    if (this.#flow.delivery.isDisconnected) this.#abandon();
    else if (this.#firstContentAt === undefined) {
      this.#isOver = true;
      this.#flow.finish({ kind: "failed", failure: brokenStream(error) });
    } else if (this.#meter.finished) this.#complete();
    else if (isIdleTimeout(error)) this.#interrupted(new AppError("upstream_idle_timeout"), "idle_timeout");
    else this.#interrupted(new AppError("upstream_stream_interrupted"), "upstream_cut");
  }

  soFar(): Completion | undefined {
    return this.#firstContentAt === undefined ? undefined : this.#completion("server_shutdown");
  }

  readsOn(): boolean {
    this.#arrived.flush();
    if (this.#isOver || this.#meter.finished) return false;
    const { controller } = this.#flow;
    const hasBegun = this.#delivered.readOn(() => {
      if (!this.#isOver) controller.abort(new AppError("client_closed_request"));
    });
    if (hasBegun) controller.resume();
    return hasBegun;
  }

  stop(error: AppError, reason: FinishReason): void {
    this.#arrived.flush();
    if (this.#isOver) return;
    if (this.#firstContentAt === undefined) {
      this.#isOver = true;
      this.#flow.finish({ kind: "failed", failure: brokenStream(error) });
    } else this.#finishing(this.#closeWith(error, reason));
    this.#flow.controller.abort(error);
  }

  #take(blocks: Buffer): void {
    const events = stripComments(blocks);
    const isFirst = this.#firstContentAt === undefined;
    if (events.length === 0 || (isFirst && !hasData(events))) return;
    const usageBefore = isFirst ? undefined : this.#meter.usage;
    this.#meter.feed(events);
    const clean = isFirst ? this.#opening(events) : events;
    if (clean === undefined) return;
    if (this.#meter.error) return this.#upstreamError(clean);
    const translated = this.#translation?.blocks(clean);
    if (isFirst) this.#begin(clean);
    this.#delivered.note(clean);
    const out = translated ?? this.#edit(clean, usageBefore !== this.#meter.usage);
    if (this.#meter.terminated) return this.#complete(out);
    this.#delivered.checkReservation();
    this.#forward(out);
  }

  #forward(out: Buffer): void {
    if (out.length === 0) return;
    this.#position?.feed(out);
    if (!this.#flow.delivery.write(out, this.#resume)) this.#flow.controller.pause();
  }

  /**
   * The first part of the answer decides whether this attempt counts: until then another channel may do. Answers it with
   * what came before it; undefined while there is none, and where the attempt has failed.
   */
  #opening(blocks: Buffer): Buffer | undefined {
    this.#early = this.#early.length === 0 ? blocks : Buffer.concat([this.#early, blocks]);
    const kind = kindOfFirst(blocks, this.#upstream);
    const failure = this.#refusal(blocks) ?? this.#misfit(kind);
    if (failure === undefined) return kind === "part" ? this.#early : undefined;
    this.#isOver = true;
    this.#flow.controller.abort(new AppError("upstream_invalid_stream"));
    this.#flow.finish({ kind: "failed", failure });
    return undefined;
  }

  #misfit(kind: EventKind): Failure | undefined {
    if (kind === "part") return undefined;
    if (kind === "metadata" && this.#meter.terminated) return emptyStream();
    const isNone = kind === "unreadable" || this.#early.length > MAX_EARLY_BYTES;
    return isNone ? unreadable(new Error("the stream does not begin as its protocol requires")) : undefined;
  }

  /** From here on, no other channel is tried. */
  #begin(blocks: Buffer): void {
    this.#firstContentAt = performance.now();
    this.#early = NOTHING;
    if (this.#translation === undefined && this.#flow.request.spec.wantsStreamUsage)
      this.#head = firstEvent(blocks, ({ data }) => data !== undefined)?.data;
    this.#flow.request.body.forget?.();
    if (this.#flow.target.plan.route.inlinesImages) forgetInlineFiles(this.#flow.request.body);
    this.#flow.delivery.sendStreamHead();
  }

  #refusal(blocks: Buffer): Failure | undefined {
    const { target } = this.#flow;
    if (target.plan.provider.classify) {
      const first = firstEvent(blocks, (event) => event.raw !== "");
      const upstreamError = first && this.#decoder.refusal(Buffer.from(first.raw));
      if (upstreamError) return this.#flow.refused(upstreamError);
    }
    return this.#meter.error && this.#flow.refused(readErrorEvent(target.plan.provider, this.#meter.error));
  }

  /** Same protocol on both sides: only the usage that the gateway requested is removed. */
  #edit(blocks: Buffer, hasNewUsage: boolean): Buffer {
    const { spec, isPlayground } = this.#flow.request;
    const edited =
      hasNewUsage && !spec.wantsStreamUsage
        ? cutUsageEvents(blocks, (event) => this.#upstream.isUsageOnly(event))
        : (this.#upstream.tidy?.(blocks) ?? blocks);
    return isPlayground ? this.#editForPlayground(edited) : edited;
  }

  /** Readers of playgrounds take every event of an answer for a chunk whose choices have an object `delta`. */
  #editForPlayground(blocks: Buffer): Buffer {
    const isEarly = !this.#meter.finished && blocks.includes(EMPTY_CHOICES);
    const cut = isEarly ? cutEvents(blocks, hasNoChoices) : blocks;
    return cut.includes(NULL_DELTA) ? Buffer.from(cut.toString("utf8").replaceAll('"delta":null', '"delta":{}')) : cut;
  }

  /** The regular end: charge, then the last bytes. */
  #complete(last: Buffer = NOTHING): void {
    this.#isOver = true;
    this.#held = this.#translation ? last : withoutLast(last);
    // A terminator without a finish reason completes an answer that has output; without output the stream has failed.
    const isWhole = this.#meter.finished || this.#delivered.hasOutput();
    this.#finishing(
      isWhole
        ? this.#completeRegularly(last)
        : this.#closeWith(new AppError("upstream_stream_interrupted"), "upstream_cut"),
    );
  }

  async #completeRegularly(last: Buffer): Promise<void> {
    const { judge } = this.#flow.delivery;
    if (judge) return this.#completeJudged(judge, last);
    this.#close(this.#lastBytes(last, await this.#settle("stop")));
  }

  /** Handles every failure here: no caller does, and the client would wait for ever or the process would end. */
  #finishing(work: Promise<void>): void {
    const { delivery } = this.#flow;
    work
      .catch((error: unknown) => {
        this.#flow.fault(error);
        if (!delivery.judge) this.#forward(this.#held);
        return this.#closeWith(new AppError("internal_error"), "internal_error");
      })
      .catch((error: unknown) => {
        this.#flow.fault(error);
        delivery.destroy();
        this.#flow.finish({ kind: "delivered", reason: "internal_error" });
      });
  }

  /** Closing events may hold calls of tools: they are judged as well, with usage that is known or after the charge. */
  async #completeJudged(judge: AnswerJudge, last: Buffer): Promise<void> {
    const early = this.#meter.usage && this.#lastBytes(last, this.#meter.usage);
    let error = await judge.stream(early ?? last);
    if (error) return this.#closeWith(error, "guardrail");
    const usage = await this.#settle("stop");
    const bytes = early ?? this.#lastBytes(last, usage);
    if (!early && this.#translation) error = await judge.stream(bytes);
    if (error) return this.#closeWith(error, "guardrail");
    this.#close(bytes);
  }

  #lastBytes(last: Buffer, usage: Usage): Buffer {
    const { terminator = NOTHING } = this.#flow.dialect;
    if (!this.#translation) return Buffer.concat([withoutTerminator(last), ...this.#untold(usage), terminator]);
    const rest = this.#translation.end(usage);
    return Buffer.concat([withoutTerminator(Buffer.concat([last, rest])), terminator]);
  }

  /** Final events that an upstream of the client's protocol left out. */
  #untold(usage: Usage): Buffer[] {
    const { dialect, request } = this.#flow;
    const lacksUsage = request.spec.wantsStreamUsage && !this.#meter.usage;
    const added = lacksUsage ? dialect.usageEvent(usage, this.#head) : undefined;
    return [added ?? NOTHING, (!this.#meter.terminated && dialect.closing) || NOTHING];
  }

  #close(bytes: Buffer): void {
    this.#flow.delivery.end(bytes);
    this.#flow.finish({ kind: "delivered", reason: this.#delivered.isReadOn ? "client_abort" : "stop" });
  }

  /** An error event in the middle: everything before it is delivered and billed, then the client gets the error. */
  #upstreamError(blocks: Buffer): void {
    const { error } = this.#meter;
    if (!error) return;
    const before = cutErrors(blocks, (event) => this.#upstream.errorIn(event));
    if (before.length > 0) {
      this.#delivered.noteLast(before);
      this.#forward(this.#translation ? this.#translation.blocks(before) : before);
    }
    const refusal = this.#flow.refused(readErrorEvent(this.#flow.target.plan.provider, error)).error;
    this.#finishing(this.#closeWith(refusal, "upstream_error"));
    this.#flow.controller.abort(new AppError("upstream_stream_interrupted"));
  }

  #interrupted(error: AppError, reason: FinishReason): void {
    if (this.#firstContentAt === undefined) {
      this.#isOver = true;
      this.#flow.finish({ kind: "failed", failure: brokenStream(error) });
      return;
    }
    this.#finishing(this.#closeWith(error, reason));
  }

  async #closeWith(error: AppError, reason: FinishReason): Promise<void> {
    this.#isOver = true;
    const { delivery, dialect, request } = this.#flow;
    if (this.#firstContentAt !== undefined) await this.#settle(reason);
    delivery.sendStreamHead();
    const frame = errorFrame(dialect.errors, error, request.id, this.#position?.options());
    if (breaksAfterError(dialect.errors)) delivery.breakOff(frame);
    else delivery.end(frame);
    this.#flow.finish({ kind: "delivered", reason });
  }

  #abandon(): void {
    this.#isOver = true;
    if (this.#firstContentAt === undefined) return this.#flow.finish({ kind: "disconnected" });
    this.#finishing(
      this.#settle("client_abort").then(() => this.#flow.finish({ kind: "delivered", reason: "client_abort" })),
    );
  }

  async #settle(reason: FinishReason): Promise<Usage> {
    const isLeft = reason === "stop" && this.#delivered.isReadOn;
    const usage = await this.#flow.settle(this.#completion(isLeft ? "client_abort" : reason));
    this.#delivered.charged();
    return usage;
  }

  #completion(reason: FinishReason): Completion {
    return this.#delivered.completion(reason, this.#firstContentAt);
  }
}

function hasNoChoices(event: { choices?: unknown }): boolean {
  return Array.isArray(event.choices) && event.choices.length === 0;
}
