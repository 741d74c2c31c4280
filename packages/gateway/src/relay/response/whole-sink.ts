import { shownText } from "../../dialects/core/ran-texts.ts";
import { AppError } from "../../lib/app-error.ts";
import { parseExactly } from "../../lib/text/exact-numbers.ts";
import { scanJson } from "../../lib/text/json-scanner.ts";
import { parseEvents } from "../../lib/text/sse.ts";
import type { ResponseDecoder } from "../../providers/core/response-decoder.ts";
import type { Dialect, JsonObject, Texts, Usage } from "../../dialects/core/types.ts";
import type { TokenCounter } from "../../billing/tokenizer/token-counter.ts";
import { readErrorEvent } from "../../providers/core/errors/classify.ts";
import { classifyStreamEvent } from "../conversion/event-kind.ts";
import { sendError } from "./client-error.ts";
import { CollectedEvents, type AnswerTranslation, type UpstreamAnswerReader } from "./collected-events.ts";
import { looksLikeEvents } from "./sniffing-sink.ts";
import { brokenStream, refusedAnswer, unreadable, type Failure } from "../upstream/failure.ts";
import { modelIn } from "../../dialects/core/answered-model.ts";
import { servedTiers } from "../../dialects/core/served-tiers.ts";
import { HostedCalls, unreportedCalls } from "../../dialects/core/hosted-calls.ts";
import type { Completion, SinkContext, Sink } from "./sink.ts";
import type { FinishReason } from "../upstream/attempt-result.ts";

/** A whole answer larger than this is refused instead of filling the memory. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** Enough for two thousand vectors of 3,072 numbers. */
const MAX_ANSWER_VALUES = 8_000_000;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** `bytes` are the upstream's own if nothing changed them. */
type Read = { readonly answer: JsonObject; readonly bytes: Buffer | undefined } | { readonly failure: Failure };

/** Reads a JSON answer whole, charges it, then sends it: nothing reaches the client before it is known to be JSON. */
export class WholeSink implements Sink {
  readonly #context: SinkContext;
  readonly #decoder: ResponseDecoder;
  readonly #upstream: Dialect;
  readonly #translate: AnswerTranslation;
  readonly #counter: TokenCounter;
  /** Set for an upstream that streams without being asked. */
  #events: CollectedEvents | undefined;
  readonly #answer: UpstreamAnswerReader;
  #parts: Buffer[] = [];
  #size = 0;
  #isOver = false;

  constructor(context: SinkContext, answer: UpstreamAnswerReader, counter: TokenCounter) {
    this.#context = context;
    this.#decoder = answer.decoder;
    this.#upstream = answer.upstream;
    this.#translate = answer.translate;
    this.#answer = answer;
    this.#counter = counter;
  }

  data(chunk: Buffer): void {
    if (this.#isOver) return;
    this.#size += chunk.length;
    if (this.#size > MAX_ANSWER_BYTES) {
      this.#isOver = true;
      this.#context.controller.abort(new AppError("upstream_invalid_response"));
      this.#context.finish({
        kind: "failed",
        failure: unreadable(new Error(`the answer exceeds ${MAX_ANSWER_BYTES} bytes`)),
      });
      return;
    }
    if (this.#size === chunk.length && this.#streams(chunk))
      this.#events = new CollectedEvents(this.#answer, this.#context.request.spec.answers ?? 1, () => this.end());
    if (this.#events) this.#collect(this.#events, chunk);
    else this.#parts.push(chunk);
  }

  /** Some proxies remove the content type of a stream, or call it JSON. */
  #streams(first: Buffer): boolean {
    const { framing = "sse" } = this.#context.target.plan.route;
    return this.#answer.isEventStream || (framing === "sse" && looksLikeEvents(first) === true);
  }

  #collect(events: CollectedEvents, chunk: Buffer): void {
    try {
      events.add(chunk);
    } catch (error) {
      events.stop();
      this.#isOver = true;
      this.#context.controller.abort(error as Error);
      this.#context.finish({ kind: "failed", failure: unreadable(error) });
      return;
    }
    if (events.isTerminated) this.end();
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const bytes = this.#parts.length === 1 ? (this.#parts[0] as Buffer) : Buffer.concat(this.#parts, this.#size);
    this.#parts = [];
    const read = this.#read(bytes);
    if ("failure" in read) this.#context.finish({ kind: "failed", failure: read.failure });
    else
      this.#deliver(read.answer, read.bytes).catch((error: unknown) =>
        this.#context.finish({ kind: "failed", failure: unreadable(error) }),
      );
  }

  /** Vendors send nonstandard answers; an unreadable one is an upstream error. */
  #read(bytes: Buffer): Read {
    try {
      return this.#events ? this.#readStream(this.#events) : this.#readWhole(withoutMark(bytes));
    } catch (error) {
      return { failure: unreadable(error) };
    }
  }

  #readWhole(bytes: Buffer): Read {
    const { provider } = this.#context.target.plan;
    const parsed = parseAnswer(bytes);
    const mayBeFailure = parsed === undefined || "error" in parsed || provider.classify !== undefined;
    const upstreamError = mayBeFailure ? this.#decoder.refusal(bytes) : undefined;
    if (upstreamError) return { failure: this.#context.refused(upstreamError) };
    const answer = parsed && this.#decoder.answer(parsed);
    return this.#checked(answer, answer === parsed ? bytes : undefined);
  }

  /** The combined events are the answer; a stream that was cut, or holds unreadable events, is not an answer. */
  #readStream(collected: CollectedEvents): Read {
    const parsed = parseEvents(collected.end());
    if (parsed.some((event) => classifyStreamEvent(event, this.#upstream.classifyEvent) === "unreadable"))
      return { failure: unreadable(new Error("an event of the stream cannot be read")) };
    const events = parsed.flatMap((event) => (event.data ? [event.data] : []));
    const broken = events.find((event) => this.#upstream.errorIn(event));
    if (broken) return this.#checked(broken, undefined);
    const answer = this.#upstream.assembleAnswer(events);
    return answer && !collected.isFinished
      ? { failure: brokenStream(new Error("the stream was cut")) }
      : this.#checked(answer, undefined);
  }

  #checked(answer: JsonObject | undefined, bytes: Buffer | undefined): Read {
    if (!answer)
      return { failure: unreadable(new Error("the answer is not the JSON object that the protocol requires")) };
    const error = this.#upstream.errorIn(answer);
    if (error) return { failure: this.#context.refused(readErrorEvent(this.#context.target.plan.provider, error)) };
    if (this.#upstream.isAnswer?.(answer) === false)
      return { failure: unreadable(new Error("unexpected response format")) };
    return { answer, bytes };
  }

  fail(error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#events?.stop();
    this.#context.finish(
      this.#context.delivery.isDisconnected
        ? { kind: "disconnected" }
        : { kind: "failed", failure: brokenStream(error) },
    );
  }

  soFar(): undefined {
    return undefined;
  }

  hasContent(): boolean {
    return this.#events?.hasPart ?? this.#parts.some((part) => firstByte(part) < part.length);
  }

  stop(error: AppError, _reason: FinishReason): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#events?.stop();
    this.#context.controller.abort(error);
    this.#context.finish({ kind: "failed", failure: { ...brokenStream(error), error, retry: false } });
  }

  /** `bytes` are the upstream's own if nothing changed them. */
  async #deliver(answer: JsonObject, bytes: Buffer | undefined): Promise<void> {
    const context = this.#context;
    const { delivery, request } = context;
    context.exchange?.readAnswer(answer);
    const usage = this.#upstream.usage(answer);
    if (delivery.isDisconnected) return this.#chargeUnread(answer, usage);
    if (this.#mayBeAnsweredElsewhere(answer)) return context.finish({ kind: "failed", failure: refusedAnswer() });
    const shaped = this.#shape(answer);
    if (delivery.judge) {
      const error = await delivery.judge.judgeAnswer(shownText(context.dialect.answerTexts(shaped)));
      if (error) return this.#refuse(error, answer, usage);
    }
    const charged = await context.settle({
      reason: "stop",
      usage,
      countOutput: () => countTexts(this.#counter, request.spec.model, this.#upstream.answerTexts(answer)),
      bytes: this.#size,
      toolCalls: this.#toolCalls(answer),
      model: modelIn(answer),
      servedTiers: servedTiers(answer),
      firstContentAt: performance.now(),
    });
    context.answered(answer);
    const untouched = shaped === answer ? bytes : undefined;
    const lacksUsage = usage === undefined && untouched === undefined;
    const sent = lacksUsage ? (context.dialect.withUsage?.(shaped, charged) ?? shaped) : shaped;
    const body = this.#encode(sent, untouched);
    if (request.spec.stream) {
      delivery.sendStreamHead();
      delivery.end(body);
    } else {
      delivery.sendHead({ "content-type": "application/json", "content-length": String(body.length) });
      delivery.endWhole(body);
    }
    context.finish({ kind: "delivered", reason: "stop" });
  }

  /** True if the answer only refuses, and the request has another model for that. */
  #mayBeAnsweredElsewhere(answer: JsonObject): boolean {
    if (!this.#context.fallsBack("content")) return false;
    return this.#upstream.isRefusal?.(answer) === true && this.#upstream.answerTexts(answer).text === "";
  }

  /** The answer is complete, and its client has left. */
  async #chargeUnread(answer: JsonObject, usage: Usage | undefined): Promise<void> {
    await this.#chargeUndelivered("client_abort", answer, usage);
    this.#context.finish({ kind: "delivered", reason: "client_abort" });
  }

  async #refuse(error: AppError, answer: JsonObject, usage: Usage | undefined): Promise<void> {
    const { delivery, dialect, request } = this.#context;
    await this.#chargeUndelivered("guardrail", answer, usage);
    sendError(delivery.response, dialect.errors, error, { requestId: request.id, form: delivery.form });
    this.#context.finish({ kind: "delivered", reason: "guardrail" });
  }

  /** The upstream is paid for an answer that the client does not get. */
  async #chargeUndelivered(reason: FinishReason, answer: JsonObject, usage: Usage | undefined): Promise<void> {
    const { request } = this.#context;
    await this.#context.settle({
      reason,
      usage,
      countOutput: () =>
        usage
          ? Promise.resolve(usage.output)
          : countTexts(this.#counter, request.spec.model, this.#upstream.answerTexts(answer)),
      bytes: this.#size,
      toolCalls: this.#toolCalls(answer),
      model: modelIn(answer),
      servedTiers: servedTiers(answer),
      firstContentAt: performance.now(),
    });
  }

  #toolCalls(answer: JsonObject): Completion["toolCalls"] {
    const { spec } = this.#context.request;
    if (!spec.hostedTools) return undefined;
    const calls = new HostedCalls(spec.containers);
    calls.see(answer);
    return calls.calls ?? unreportedCalls(spec, this.#upstream.id, this.#translate !== undefined);
  }

  /** Returns the answer in the client's protocol, as requested. A conversion may fail, so it runs before the charge. */
  #shape(answer: JsonObject): JsonObject {
    const { dialect, request } = this.#context;
    const sent = this.#translate ? this.#translate(answer) : answer;
    return dialect.fitAnswer?.(sent, request.body) ?? sent;
  }

  #encode(sent: JsonObject, bytes: Buffer | undefined): Buffer {
    const { dialect, request } = this.#context;
    if (!request.spec.stream) return bytes ?? Buffer.from(JSON.stringify(sent));
    const blocks = dialect.toStream(sent, request.spec);
    return dialect.terminator ? Buffer.concat([blocks, dialect.terminator]) : blocks;
  }
}

/** A byte order mark is not part of JSON. */
function withoutMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

function parseAnswer(bytes: Buffer): JsonObject | undefined {
  const isObjectLike = bytes[firstByte(bytes)] === OPEN_BRACE && bytes[lastByte(bytes)] === CLOSE_BRACE;
  if (!isObjectLike) return undefined;
  const { fault, mayLoseNumbers } = scanJson(bytes, { maxValues: MAX_ANSWER_VALUES });
  if (fault) return undefined;
  try {
    return parseExactly(bytes.toString("utf8"), !mayLoseNumbers) as JsonObject;
  } catch {
    return undefined;
  }
}

function firstByte(bytes: Buffer): number {
  let at = 0;
  while (at < bytes.length && isSpace(bytes[at])) at++;
  return at;
}

function lastByte(bytes: Buffer): number {
  let at = bytes.length - 1;
  while (at > 0 && isSpace(bytes[at])) at--;
  return at;
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Counts the tokens of texts with the model's encoder, plus their fixed part. */
export async function countTexts(counter: TokenCounter, model: string, texts: Texts): Promise<number> {
  if (texts.text === "") return texts.extra;
  const counts = await counter.count(model, texts.inputs ?? [texts.text]);
  return counts.reduce((sum, tokens) => sum + tokens, texts.extra);
}
