import { AppError } from "../../lib/app-error.ts";
import { breaksAfterError, errorFrame } from "../../dialects/core/errors.ts";
import type { Dialect, UsageMeter, StreamPosition, Usage } from "../../dialects/core/types.ts";
import type { ResponseDecoder } from "../../providers/core/response-decoder.ts";
import { readErrorEvent } from "../../providers/core/errors/classify.ts";
import { DeliveredOutput } from "./delivered-output.ts";
import type { AnswerJudge } from "./delivery.ts";
import { brokenStream, emptyStream, isIdleTimeout, isOfUpstream, unreadable } from "../upstream/failure.ts";
import { cutErrors, hasData, isBrokenOff, stripComments, withoutLast } from "./event-blocks.ts";
import { ClientEvents } from "./client-events.ts";
import { StreamBeginning } from "./stream-beginning.ts";
import { forgetInlineFiles } from "../upstream/inline-files.ts";
import type { FinishReason, Completion, SinkContext, Sink, UpstreamStream } from "./sink.ts";
import { TurnBuffer } from "./turn-buffer.ts";
import type { StreamTranslation } from "../pipeline/translate.ts";
import type { TokenCounter } from "../../billing/tokenizer/token-counter.ts";

const NOTHING = Buffer.alloc(0);

/**
 * Server-sent events from the upstream to the client. Whole event blocks are forwarded as they come; the meter
 * reads along. The last block waits until the charge is safe, so a delivered answer is always billed.
 */
export class StreamSink implements Sink {
  readonly #context: SinkContext;
  readonly #upstream: Dialect;
  readonly #translation: StreamTranslation | undefined;
  readonly #decoder: ResponseDecoder;
  readonly #clientEvents: ClientEvents;
  readonly #meter: UsageMeter;
  readonly #delivered: DeliveredOutput;
  readonly #position: StreamPosition | undefined;
  readonly #resume: () => void;
  readonly #arrived = new TurnBuffer((bytes) => this.#read(bytes));
  /** Undefined from the first part of the answer on. */
  #beginning: StreamBeginning | undefined;
  #firstContentAt: number | undefined;
  /** Events that came with the end of the answer and wait for its charge. */
  #held: Buffer = NOTHING;
  #isOver = false;

  constructor(context: SinkContext, answer: UpstreamStream, counter: TokenCounter) {
    const { upstream } = answer;
    this.#context = context;
    this.#upstream = upstream;
    this.#translation = answer.translation;
    this.#decoder = answer.decoder;
    this.#meter = upstream.meter();
    this.#beginning = new StreamBeginning(context, answer, this.#meter);
    this.#clientEvents = new ClientEvents(context, answer, this.#meter);
    this.#delivered = new DeliveredOutput(context, {
      upstream,
      meter: this.#meter,
      isTranslated: answer.translation !== undefined,
      counter,
    });
    this.#position = context.dialect.position?.();
    this.#resume = () => context.controller.resume();
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
        this.#context.finish({ kind: "failed", failure: unreadable(error) });
      } else if (isOfUpstream(error)) this.#interrupted(error, "upstream_error");
      else this.#interrupted(new AppError("upstream_invalid_stream"), "upstream_cut");
      this.#context.controller.abort(error as Error);
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
      this.#context.finish({ kind: "failed", failure: emptyStream() });
    } else if (this.#meter.finished) this.#complete();
    else this.#interrupted(new AppError("upstream_stream_interrupted"), "upstream_cut");
  }

  fail(error: Error): void {
    this.#arrived.flush();
    if (this.#isOver) return;
    if (this.#context.delivery.isDisconnected) this.#abandon();
    else if (this.#firstContentAt === undefined) {
      this.#isOver = true;
      this.#context.finish({ kind: "failed", failure: brokenStream(error) });
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
    const { controller } = this.#context;
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
      this.#context.finish({ kind: "failed", failure: brokenStream(error) });
    } else this.#finishing(this.#closeWith(error, reason));
    this.#context.controller.abort(error);
  }

  #take(blocks: Buffer): void {
    const events = stripComments(blocks);
    const isFirst = this.#firstContentAt === undefined;
    if (events.length === 0 || (isFirst && !hasData(events))) return;
    const usageBefore = isFirst ? undefined : this.#meter.usage;
    this.#meter.feed(events);
    const clean = this.#beginning ? this.#readBeginning(this.#beginning, events) : events;
    if (clean === undefined) return;
    if (this.#meter.error) return this.#upstreamError(clean);
    const translated = this.#translation?.blocks(clean);
    if (isFirst) this.#begin(clean);
    this.#delivered.note(clean);
    const out = translated ?? this.#clientEvents.edit(clean, usageBefore !== this.#meter.usage);
    if (this.#meter.terminated) return this.#complete(out);
    this.#delivered.checkReservation();
    this.#forward(out);
  }

  #forward(out: Buffer): void {
    if (out.length === 0) return;
    this.#position?.feed(out);
    if (!this.#context.delivery.write(out, this.#resume)) this.#context.controller.pause();
  }

  /** The events from the first part on; undefined while there is none, and where the attempt has failed. */
  #readBeginning(beginning: StreamBeginning, events: Buffer): Buffer | undefined {
    const begun = beginning.read(events);
    if (begun === undefined || Buffer.isBuffer(begun)) return begun;
    this.#isOver = true;
    this.#context.controller.abort(new AppError("upstream_invalid_stream"));
    this.#context.finish({ kind: "failed", failure: begun });
    return undefined;
  }

  /** From here on, no other channel is tried. */
  #begin(blocks: Buffer): void {
    this.#firstContentAt = performance.now();
    this.#beginning = undefined;
    this.#clientEvents.begin(blocks);
    this.#context.request.body.forget?.();
    if (this.#context.target.plan.route.inlinesImages) forgetInlineFiles(this.#context.request.body);
    this.#context.delivery.sendStreamHead();
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
    const { judge } = this.#context.delivery;
    if (judge) return this.#completeJudged(judge, last);
    this.#close(this.#clientEvents.last(last, await this.#settle("stop")));
  }

  /** Handles every failure here: no caller does, and the client would wait for ever or the process would end. */
  #finishing(work: Promise<void>): void {
    const { delivery } = this.#context;
    work
      .catch((error: unknown) => {
        this.#context.fault(error);
        if (!delivery.judge) this.#forward(this.#held);
        return this.#closeWith(new AppError("internal_error"), "internal_error");
      })
      .catch((error: unknown) => {
        this.#context.fault(error);
        delivery.destroy();
        this.#context.finish({ kind: "delivered", reason: "internal_error" });
      });
  }

  /** Closing events may hold calls of tools: they are judged as well, with usage that is known or after the charge. */
  async #completeJudged(judge: AnswerJudge, last: Buffer): Promise<void> {
    const early = this.#meter.usage && this.#clientEvents.last(last, this.#meter.usage);
    let error = await judge.stream(early ?? last);
    if (error) return this.#closeWith(error, "guardrail");
    const usage = await this.#settle("stop");
    const bytes = early ?? this.#clientEvents.last(last, usage);
    if (!early && this.#translation) error = await judge.stream(bytes);
    if (error) return this.#closeWith(error, "guardrail");
    this.#close(bytes);
  }

  #close(bytes: Buffer): void {
    this.#context.delivery.end(bytes);
    this.#context.finish({ kind: "delivered", reason: this.#delivered.isReadOn ? "client_abort" : "stop" });
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
    const refusal = this.#context.refused(readErrorEvent(this.#context.target.plan.provider, error)).error;
    this.#finishing(this.#closeWith(refusal, "upstream_error"));
    this.#context.controller.abort(new AppError("upstream_stream_interrupted"));
  }

  #interrupted(error: AppError, reason: FinishReason): void {
    if (this.#firstContentAt === undefined) {
      this.#isOver = true;
      this.#context.finish({ kind: "failed", failure: brokenStream(error) });
      return;
    }
    this.#finishing(this.#closeWith(error, reason));
  }

  async #closeWith(error: AppError, reason: FinishReason): Promise<void> {
    this.#isOver = true;
    const { delivery, dialect, request } = this.#context;
    if (this.#firstContentAt !== undefined) await this.#settle(reason);
    delivery.sendStreamHead();
    const frame = errorFrame(dialect.errors, error, request.id, this.#position?.options());
    if (breaksAfterError(dialect.errors)) delivery.breakOff(frame);
    else delivery.end(frame);
    this.#context.finish({ kind: "delivered", reason });
  }

  #abandon(): void {
    this.#isOver = true;
    if (this.#firstContentAt === undefined) return this.#context.finish({ kind: "disconnected" });
    this.#finishing(
      this.#settle("client_abort").then(() => this.#context.finish({ kind: "delivered", reason: "client_abort" })),
    );
  }

  async #settle(reason: FinishReason): Promise<Usage> {
    const isLeft = reason === "stop" && this.#delivered.isReadOn;
    const usage = await this.#context.settle(this.#completion(isLeft ? "client_abort" : reason));
    this.#delivered.charged();
    return usage;
  }

  #completion(reason: FinishReason): Completion {
    return this.#delivered.completion(reason, this.#firstContentAt);
  }
}
