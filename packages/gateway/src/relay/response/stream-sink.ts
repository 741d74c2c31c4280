import { AppError } from "../../lib/app-error.ts";
import { splitBlocks } from "../../lib/text/sse.ts";
import { breaksAfterError, errorFrame } from "../../dialects/core/errors.ts";
import type { Dialect, UsageMeter, StreamPosition, Usage } from "../../dialects/core/types.ts";
import type { ResponseDecoder } from "../../providers/core/response-decoder.ts";
import { readErrorEvent } from "../../providers/core/errors/classify.ts";
import { DeliveredOutput } from "./delivered-output.ts";
import type { AnswerJudge } from "./delivery.ts";
import {
  brokenStream,
  emptyStream,
  isIdleTimeout,
  isUpstreamError,
  refusedAnswer,
  unreadable,
  type Failure,
} from "../upstream/failure.ts";
import { beforeError, hasData, isBrokenOff, stripComments, withoutLast } from "./event-blocks.ts";
import { ClientEvents } from "./client-events.ts";
import { holdsContent, StreamBeginning, type Begun } from "./stream-beginning.ts";
import { StreamClosing } from "./stream-closing.ts";
import { forgetInlineFiles } from "../upstream/inline-files.ts";
import { HeldWork } from "./held-work.ts";
import type { Completion, Nothing, SinkContext, Sink, UpstreamStream } from "./sink.ts";
import type { FinishReason } from "../upstream/attempt-result.ts";
import { TurnBuffer } from "./turn-buffer.ts";
import type { StreamTranslation } from "../conversion/translate.ts";
import type { TokenCounter } from "../../billing/tokenizer/token-counter.ts";

const NOTHING = Buffer.alloc(0);

/**
 * The life of a stream. It only ever moves to the right:
 *
 *     beginning ----> flowing ----> closing ----> over
 *         |              |                          ^
 *         |              `--------------------------|  terminator, error, cut, client gone
 *         `-----------------------------------------'  failed: another channel may serve
 *
 * - beginning: events are held, the client gets keep-alives at most, and nothing is owed
 * - flowing: the client has content, or the regular end of an answer without any; no other channel is tried
 * - closing: the answer is complete, but the upstream has not ended the stream
 * - over: charged and ended, or failed
 */
type Phase = "beginning" | "flowing" | "closing" | "over";

/**
 * Sends server-sent events from the upstream to the client. Whole event blocks are forwarded as they come, and the
 * meter reads them too. The last block waits until the charge is safe, so a delivered answer is always billed.
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
  readonly #closing: StreamClosing;
  readonly #waiting = new HeldWork();
  /** Freed when the answer begins. */
  #beginning: StreamBeginning | undefined;
  #phase: Phase = "beginning";
  #firstContentAt: number | undefined;
  #isRefused = false;
  /** Events that came with the end of the answer and wait for its charge. */
  #held: Buffer = NOTHING;

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
    this.#closing = new StreamClosing(this.#meter, context.request.spec.answers ?? 1, () => this.#endQuiet());
    this.#position = context.dialect.position?.();
    this.#resume = () => context.controller.resume();
  }

  data(chunk: Buffer): void {
    if (this.#isOver) return;
    // An error right after the first part must not replace that part.
    if (this.#phase === "beginning") this.#read(chunk);
    else this.#arrived.add(chunk);
  }

  get #isOver(): boolean {
    return this.#phase === "over";
  }

  #read(bytes: Buffer): void {
    if (this.#isOver) return;
    this.#guarded(() => this.#takeAll(this.#decoder.feed(bytes)));
  }

  #takeAll(blocks: Buffer | undefined): void {
    if (blocks) this.#take(blocks);
    const fault = this.#decoder.fault ?? this.#translation?.fault;
    const throwFault = () => {
      if (fault !== undefined && !this.#isOver) throw fault;
    };
    if (fault === undefined || !this.#waiting.defers(throwFault)) throwFault();
  }

  /** Runs `work`; output that cannot be framed or converted is an upstream error, not a crash. */
  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (this.#isOver) throw error;
      if (this.#phase === "beginning") return this.#failed(unreadable(error), error as Error);
      if (isUpstreamError(error)) this.#interrupted(error, "upstream_error");
      else this.#interrupted(new AppError("upstream_invalid_stream"), "upstream_cut");
      this.#context.controller.abort(error as Error);
    }
  }

  end(): void {
    this.#arrived.flush();
    if (this.#isOver || this.#waiting.defers(() => this.end())) return;
    this.#guarded(() => {
      const rest = this.#decoder.rest();
      this.#takeAll(rest && !isBrokenOff(rest) ? rest : undefined);
    });
    if (this.#isOver) return;
    if (this.#phase === "beginning") this.#failed(emptyStream());
    else if (this.#meter.finished) this.#complete();
    else this.#interrupted(new AppError("upstream_stream_interrupted"), "upstream_cut");
  }

  fail(error: Error): void {
    this.#arrived.flush();
    if (this.#isOver) return;
    if (this.#context.delivery.isDisconnected) return this.#abandon();
    if (this.#waiting.defers(() => this.fail(error))) return;
    if (this.#phase === "beginning") this.#failed(brokenStream(error));
    else if (this.#meter.finished) this.#complete();
    else if (isIdleTimeout(error)) this.#interrupted(new AppError("upstream_idle_timeout"), "idle_timeout");
    else this.#interrupted(new AppError("upstream_stream_interrupted"), "upstream_cut");
  }

  soFar(): Completion | undefined {
    return this.#phase === "beginning" ? undefined : this.#completion("server_shutdown");
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
    if (this.#waiting.isWaiting) this.#delivered.withhold();
    if (this.#phase === "beginning") this.#failed(brokenStream(error));
    else this.#finishing(this.#closeWith(error, reason));
    this.#context.controller.abort(error);
  }

  #take(blocks: Buffer): void {
    const events = stripComments(blocks);
    if (events.length === 0) return;
    if (this.#beginning) this.#takeBeginning(this.#beginning, events);
    else this.#takeNext(events);
  }

  /** Reads event by event until the answer begins; the events after that are passed on. */
  #takeBeginning(beginning: StreamBeginning, events: Buffer): void {
    if (!hasData(events)) return;
    for (const block of splitBlocks(events)) {
      const read = beginning.read(block);
      if (read === undefined) continue;
      if (!("events" in read)) return this.#failed(read, new AppError("upstream_invalid_stream"));
      if (read.isRefused && this.#context.fallsBack("content"))
        return this.#failed(refusedAnswer(), new AppError("upstream_stream_interrupted"));
      const end = block.byteOffset - events.byteOffset + block.length;
      this.#begin(read);
      if (end < events.length && !this.#isOver) this.#takeNext(events.subarray(end));
      return;
    }
  }

  #takeNext(events: Buffer): void {
    if (this.#waiting.defers(() => this.#takeNext(events))) return;
    const usageBefore = this.#meter.usage;
    this.#meter.feed(events);
    if (this.#meter.error) return this.#upstreamError(events);
    const sent =
      this.#translation?.blocks(events) ?? this.#clientEvents.edit(events, usageBefore !== this.#meter.usage);
    this.#noteContent(sent);
    if (this.#translation?.fault === undefined) return this.#pass(events, sent);
    this.#delivered.noteLast(events.subarray(0, this.#translation.readBytes));
    this.#forward(sent);
  }

  #noteContent(sent: Buffer): void {
    if (this.#firstContentAt === undefined && holdsContent(sent, this.#context.dialect))
      this.#firstContentAt = performance.now();
  }

  /** `events` are as the upstream sent them, `sent` as the client gets them. */
  #pass(events: Buffer, sent: Buffer): void {
    const covering = this.#delivered.covering(events);
    if (!covering) return this.#passCovered(events, sent);
    this.#context.controller.pause();
    this.#waiting.hold(covering, () => this.#passCovered(events, sent), {
      run: (work) => void (this.#isOver || this.#guarded(work)),
      done: () => void (this.#isOver || this.#context.delivery.isBlocked || this.#resume()),
    });
  }

  #passCovered(events: Buffer, sent: Buffer): void {
    this.#delivered.note(events);
    if (this.#meter.terminated) return this.#complete(sent);
    this.#delivered.checkReservation();
    this.#forward(sent);
    if (!this.#meter.finished || this.#isOver) return;
    this.#phase = "closing";
    this.#closing.note(events, () => holdsContent(sent, this.#context.dialect));
  }

  #forward(out: Buffer): void {
    if (out.length === 0) return;
    this.#position?.feed(out);
    if (!this.#context.delivery.write(out, this.#resume)) this.#context.controller.pause();
  }

  /** From here on, no other channel is tried. */
  #begin({ events, sent, hasContent, isRefused }: Begun): void {
    this.#phase = "flowing";
    this.#beginning = undefined;
    this.#isRefused = isRefused;
    if (hasContent) this.#firstContentAt = performance.now();
    this.#clientEvents.begin(events);
    this.#context.request.body.forget?.();
    if (this.#context.target.plan.route.inlinesImages) forgetInlineFiles(this.#context.request.body);
    this.#context.delivery.sendStreamHead();
    this.#pass(events, this.#translation ? sent : this.#clientEvents.edit(events, this.#meter.usage !== undefined));
  }

  /** Nothing has reached the client: another channel may serve. */
  #failed(failure: Failure, abortWith?: Error): void {
    this.#phase = "over";
    if (abortWith) this.#context.controller.abort(abortWith);
    this.#context.finish({ kind: "failed", failure });
  }

  /** The upstream has sent everything but does not close. */
  #endQuiet(): void {
    this.#arrived.flush();
    if (this.#isOver) return;
    // Further output of the upstream may wait behind a client that reads slowly.
    if (this.#context.delivery.isBlocked || this.#waiting.isWaiting) return this.#closing.restart();
    this.#complete();
    this.#context.controller.abort(new AppError("upstream_stream_interrupted"));
  }

  /** The regular end: charges, then sends the last bytes. */
  #complete(last: Buffer = NOTHING): void {
    this.#over();
    this.#held = this.#translation ? last : withoutLast(last);
    // A terminator without a finish reason completes an answer that has output; without output the stream has failed.
    const isWhole = this.#meter.finished || this.#firstContentAt !== undefined;
    this.#finishing(
      isWhole
        ? this.#completeRegularly(last)
        : this.#closeWith(new AppError("upstream_stream_interrupted"), "upstream_cut"),
    );
  }

  #over(): void {
    this.#phase = "over";
    this.#closing.stop();
  }

  async #completeRegularly(last: Buffer): Promise<void> {
    const { judge } = this.#context.delivery;
    if (judge) return this.#completeJudged(judge, last);
    this.#close(this.#clientEvents.last(last, await this.#settle("stop")));
  }

  /** Handles every failure here, because no caller does: the client would wait forever, or the process would end. */
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

  /** Closing events may hold tool calls, so they are judged as well, with usage that is known or after the charge. */
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
    const before = beforeError(blocks, (event) => this.#upstream.errorIn(event));
    if (before.length > 0) {
      const sent = this.#translation?.blocks(before) ?? before;
      this.#noteContent(sent);
      this.#delivered.noteLast(before);
      this.#forward(sent);
    }
    const refusal = this.#context.refused(readErrorEvent(this.#context.target.plan.provider, error)).error;
    this.#finishing(this.#closeWith(refusal, "upstream_error"));
    this.#context.controller.abort(new AppError("upstream_stream_interrupted"));
  }

  #interrupted(error: AppError, reason: FinishReason): void {
    this.#finishing(this.#closeWith(error, reason));
  }

  async #closeWith(error: AppError, reason: FinishReason): Promise<void> {
    this.#over();
    const { delivery, dialect, request } = this.#context;
    await this.#settle(reason);
    delivery.sendStreamHead();
    const frame = errorFrame(dialect.errors, error, request.id, this.#position?.options());
    if (breaksAfterError(dialect.errors)) delivery.breakOff(frame);
    else delivery.end(frame);
    this.#context.finish({ kind: "delivered", reason });
  }

  #abandon(): void {
    // A model that reasons without visible output has been working since its answer opened.
    const isUnheard = this.#beginning !== undefined && !(this.#context.readOn && this.#beginning.hasOpened);
    this.#over();
    if (isUnheard) return this.#context.finish({ kind: "disconnected" });
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
    const nothing = reason === "client_abort" ? undefined : this.#nothing;
    return this.#delivered.completion(reason, this.#firstContentAt, nothing);
  }

  get #nothing(): Nothing | undefined {
    if (this.#firstContentAt !== undefined) return undefined;
    if (this.#isRefused) return "refused";
    return this.#meter.finished ? "empty" : "broken";
  }
}
