import type { FallbackCause } from "@fairway/wire";
import type { Dispatcher } from "undici";
import type { TokenCounter } from "../../billing/tokenizer/token-counter.ts";
import type { RequestedOutput, Dialect, JsonObject, Usage } from "../../dialects/core/types.ts";
import { AppError } from "../../lib/app-error.ts";
import { readFailure } from "../../providers/core/errors/classify.ts";
import { maskError, collectSecrets } from "../../providers/core/mask.ts";
import { readProxy } from "../../providers/core/proxy.ts";
import type { Exchange } from "../../providers/core/types.ts";
import { UpstreamRefusal, type UpstreamError } from "../../providers/core/failed-answer.ts";
import { buildCall, type BuiltCall, type CallDeps } from "../conversion/build-call.ts";
import { decodedFor, isEncoded } from "../upstream/decoded.ts";
import { DEFAULT_REST_MS } from "../selection/cooldown.ts";
import { createSink } from "../response/create-sink.ts";
import type { Delivery } from "../response/delivery.ts";
import { NoContentError, notBuilt, refusedByUpstream, unreachable, type Failure } from "../upstream/failure.ts";
import { exchangeTools, feedHandler } from "../upstream/exchange.ts";
import type { RouteTarget } from "../selection/types.ts";
import type { Completion, SinkContext, Sink } from "../response/sink.ts";
import type { AttemptResult, FinishReason } from "../upstream/attempt-result.ts";
import { TracedExchange } from "../upstream/traced-exchange.ts";
import { createAnswerStorage, type AnswerStorage, type AnswerStorageDeps } from "../stateful/answer-storage.ts";
import type { RelayRequest } from "../request/request.ts";
import type { Upstreams, UpstreamTimeouts } from "../upstream/upstream.ts";
import type { ReadOn } from "../response/unseen-output.ts";
import { DROPPED_HEADER, droppedHeader } from "../conversion/dropped-names.ts";
import type { MarkNote } from "../prompt-cache/mark-prompt.ts";
import { Lessons, type LessonsDeps } from "./lessons.ts";

export interface AttemptDeps extends CallDeps, AnswerStorageDeps, LessonsDeps {
  readonly upstreams: Upstreams;
  readonly counter: TokenCounter;
  readonly headersTimeoutMs: { readonly stream: number; readonly whole: number };
  readonly idleTimeoutMs: number;
  /** Timeout until the first content, even if keep-alives come before it. */
  readonly contentTimeoutMs: number;
  /** Phrases of the operator that identify a dead key or account. */
  readonly disableKeywords: () => readonly string[];
  /** Called on a fault of this program after the answer began. */
  readonly onFault: (requestId: string, error: unknown) => void;
}

/** How long an upstream may take to end a complete answer. */
const LAST_WORDS_MS = 2_000;

/** Hooks that the pipeline provides to one attempt. */
export interface AttemptHooks {
  readonly delivery: Delivery;
  settle(completion: Completion, built: BuiltCall, attempt: Attempt): Promise<Usage>;
  progress(outputBound: () => number, attempt: Attempt): void;
  /** See SinkContext. */
  outputRoom(): number;
  grow(atMost: number, exactly: () => Promise<number>, attempt: Attempt): Promise<void>;
  /**
   * Reserves the possible cost of the request that is about to be sent; rejects if it is not covered. Undefined if the
   * reservation already covers it.
   */
  cover(requested: RequestedOutput, marks: MarkNote | undefined): Promise<void> | undefined;
  /** See SinkContext. */
  fallsBack(cause: FallbackCause): boolean;
  /** Output tokens of each answer that the balance covers; undefined = the request is sent unchanged. */
  readonly outputCap?: number | undefined;
  /** True if the call is read to its end even if its client leaves. */
  readonly finishesAbandoned?: boolean;
  /** Set if a disconnected client may have caused hidden output. */
  readonly readOn?: ReadOn | undefined;
}

/** One upstream call of a request. */
export class Attempt implements SinkContext {
  readonly request: RelayRequest;
  target: RouteTarget;
  readonly delivery: Delivery;
  readonly dialect: Dialect;
  readonly result: Promise<AttemptResult>;
  /** Milliseconds of the monotonic clock. */
  readonly startedAt = performance.now();
  /** The upstream's own request id; for the log, never for the client. */
  upstreamRequestId: string | undefined;
  /** Status of the upstream; 0 = it did not answer. */
  status = 0;
  /** When the head of its answer arrived. */
  headAt: number | undefined;
  /** Set for a traced call, once it is built. */
  exchange: TracedExchange | undefined;
  controller!: Dispatcher.DispatchController;
  readonly #hooks: AttemptHooks;
  readonly #deps: AttemptDeps;
  #resolve!: (result: AttemptResult) => void;
  #built: BuiltCall | undefined;
  #lessons: Lessons | undefined;
  #sink: Sink | undefined;
  /** Why the gateway ended the attempt. */
  #stopped: AppError | undefined;
  /** Aborts fetching the files that the call needs. */
  #files: AbortController | undefined;
  #isUpstreamDone = false;
  #lastWords: NodeJS.Timeout | undefined;
  #headers: Record<string, string> = {};
  #storage: AnswerStorage | undefined;

  constructor(request: RelayRequest, target: RouteTarget, hooks: AttemptHooks, deps: AttemptDeps) {
    this.request = request;
    this.target = target;
    this.delivery = hooks.delivery;
    this.dialect = request.dialect;
    this.#hooks = hooks;
    this.#deps = deps;
    this.#storage = createAnswerStorage(request, target, hooks.delivery, deps);
    this.result = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** Sends the call; its end is the `result`. Rejects only on a fault of this program. */
  async start(): Promise<void> {
    try {
      this.#built = await buildCall(this.request, this.target, this.#deps, {
        signal: this.#untilEnded(),
        pending: this.#storage?.pending,
        outputCap: this.#hooks.outputCap,
      });
      if (this.request.progress.span?.traceId !== undefined) this.exchange = new TracedExchange(this.#built.sent.body);
      const covering = this.#hooks.cover(this.#built.requested, this.#built.marks);
      if (covering) await covering;
    } catch (error) {
      return this.finish(
        this.delivery.isDisconnected ? { kind: "disconnected" } : { kind: "failed", failure: this.#notSent(error) },
      );
    }
    if (this.delivery.isDisconnected) return this.finish({ kind: "disconnected" });
    if (this.#stopped) return this.finish({ kind: "failed", failure: notBuilt(this.#stopped) });
    this.#nameDropped(this.#built);
    this.#countMarks(this.#built);
    const { channel } = this.target;
    const proxy = readProxy(channel);
    const { stream, whole } = this.#deps.headersTimeoutMs;
    const timeouts = { headersMs: this.request.spec.stream ? stream : whole, idleMs: this.#deps.idleTimeoutMs };
    const { exchange } = this.target.plan.route;
    if (exchange) void this.#converse(exchange, this.#built, proxy, timeouts);
    else this.#deps.upstreams.dispatch(this.#built.call, proxy, timeouts, this.#handler());
  }

  #countMarks({ marks }: BuiltCall): void {
    if (marks) this.#deps.onCacheMarks?.(this.target.plan.provider.id, "sent");
  }

  /** Names the members that only this attempt lost: the previous one may have lost others. */
  #nameDropped({ dropped }: BuiltCall): void {
    const { response } = this.delivery;
    const names = droppedHeader(dropped);
    if (response.headersSent) return;
    if (names === undefined) response.removeHeader(DROPPED_HEADER);
    else response.setHeader(DROPPED_HEADER, names);
  }

  /**
   * Aborted when the client leaves or the gateway ends the attempt while files are fetched; undefined if none can be.
   */
  #untilEnded(): AbortSignal | undefined {
    if (this.target.plan.route.inlinesImages !== true) return undefined;
    const files = (this.#files = new AbortController());
    this.delivery.onDisconnect = () => files.abort(new AppError("client_closed_request"));
    return files.signal;
  }

  /** Ends the attempt; the client gets `error` in its own protocol. */
  stop(error: AppError, reason: FinishReason): void {
    this.#stopped ??= error;
    this.#files?.abort(error);
    if (this.#sink) this.#sink.stop(error, reason);
    else this.controller?.abort(error);
  }

  /** Comments and blanks are not content: an answer without content in time fails, so that another channel is tried. */
  expire(): void {
    if (!this.#sink || this.#isUpstreamDone || this.#sink.soFar() || this.#sink.hasContent?.()) return;
    if (performance.now() - this.startedAt < this.#deps.contentTimeoutMs) return;
    const error = new NoContentError("no content in time");
    this.#sink.fail(error);
    this.controller.abort(error);
  }

  /** The host that was called; "" if the call was not built. */
  get upstreamHost(): string {
    return this.#built?.call.url.host ?? "";
  }

  /** The completion that would be charged if the answer ended now. */
  soFar(): Completion | undefined {
    return this.#sink?.soFar();
  }

  settle(completion: Completion): Promise<Usage> {
    const charged = this.#hooks.settle(completion, this.#built as BuiltCall, this);
    return this.#storage ? this.#storage.charged(charged) : charged;
  }

  answered(answer: JsonObject): void {
    this.#storage?.answered(answer);
  }

  get readOn(): ReadOn | undefined {
    return this.#hooks.readOn;
  }

  fallsBack(cause: FallbackCause): boolean {
    return this.#hooks.fallsBack(cause);
  }

  progress(outputBound: () => number): void {
    this.#hooks.progress(outputBound, this);
  }

  get outputRoom(): number {
    return this.#hooks.outputRoom();
  }

  grow(atMost: number, exactly: () => Promise<number>): Promise<void> {
    return this.#hooks.grow(atMost, exactly, this);
  }

  finish(result: AttemptResult): void {
    this.delivery.onDisconnect = undefined;
    if (result.kind === "delivered" && result.reason === "stop") this.#storage?.delivered();
    if (result.kind !== "failed") this.#resolve(result);
    else if (this.#stopped) this.#resolve(stoppedBy(this.#stopped, result.failure));
    else {
      const next = this.#learnFrom(result.failure);
      if (next) return this.#startAgain(next);
      this.#resolve(result);
    }
    if (this.#sink && !this.#isUpstreamDone)
      this.#lastWords ??= setTimeout(() => this.controller.abort(new Error("the answer does not end")), LAST_WORDS_MS);
  }

  /** Starts the same attempt with another request; its client has seen nothing. */
  #startAgain(target: RouteTarget): void {
    if (target !== this.target) {
      this.target = target;
      this.#storage = createAnswerStorage(this.request, target, this.delivery, this.#deps);
    }
    this.#sink = undefined;
    this.start().catch((error: unknown) => this.#resolve({ kind: "failed", failure: notBuilt(AppError.from(error)) }));
  }

  #upstreamDone(): void {
    this.#isUpstreamDone = true;
    clearTimeout(this.#lastWords);
  }

  /** Returns the target of an immediate second try, if the failure teaches something about the upstream. */
  #learnFrom(failure: Failure): RouteTarget | undefined {
    if (this.delivery.isDisconnected) return undefined;
    this.#lessons ??= new Lessons(this.request, this.#deps);
    return this.#lessons.learn(failure, this.target, this.#built);
  }

  fault(error: unknown): void {
    this.#deps.onFault(this.request.id, error);
  }

  classifyFailure(status: number, body: Buffer): Failure {
    return this.refused(
      readFailure(this.target.plan.provider, { status, headers: this.#headers, body }, this.#reading()),
    );
  }

  refused(upstreamError: UpstreamError): Failure {
    const { channel, keyIndex, plan } = this.target;
    const secrets = collectSecrets(channel, channel.keys[keyIndex] ?? "", plan.provider.baseUrl);
    return refusedByUpstream(maskError(upstreamError, secrets), channel, DEFAULT_REST_MS);
  }

  #reading() {
    return { now: this.#deps.now(), keywords: this.#deps.disableKeywords() };
  }

  /** Feeds the answer of a route with several steps to the handler like that of a single call. */
  #converse(
    exchange: Exchange,
    built: BuiltCall,
    proxy: string | undefined,
    timeouts: UpstreamTimeouts,
  ): Promise<void> {
    const { spec } = this.request;
    const { channel, upstreamModel } = this.target;
    const talk = (signal: AbortSignal) =>
      exchange(built.call, {
        ...built.signing,
        ...exchangeTools({ proxy, timeouts, signal }, this.#deps),
        spec,
        upstreamModel,
        channel,
      });
    return feedHandler(talk, this.#handler(), (error) =>
      this.finish({ kind: "failed", failure: this.#notSent(error) }),
    );
  }

  /** @param isDecoded the body comes from a decoder, not from the wire */
  #handler(isDecoded = false): Dispatcher.DispatchHandler {
    let sink: Sink | undefined;
    let decoder: Dispatcher.DispatchHandler | undefined;
    return {
      onRequestStart: (controller) => {
        this.controller = controller;
        this.#isUpstreamDone = false;
        this.delivery.onDisconnect = () => {
          if (!this.#hooks.finishesAbandoned && !this.#sink?.readsOn?.())
            controller.abort(new AppError("client_closed_request"));
        };
        if (this.#stopped) controller.abort(this.#stopped);
      },
      onResponseStart: (controller, status, headers, message) => {
        if (!isDecoded && isEncoded(headers)) {
          decoder = decodedFor(this.#handler(true));
          decoder.onRequestStart?.(controller, {});
          return decoder.onResponseStart?.(controller, status, headers, message);
        }
        this.status = status;
        this.headAt = performance.now();
        this.#headers = headers as Record<string, string>;
        // These are a buffer for each header name and value, which a stream would hold for minutes.
        controller.rawHeaders = null;
        this.upstreamRequestId = this.#headers["x-request-id"] ?? this.#headers["request-id"];
        sink = this.#sink = this.#sinkFor(status);
        if (!sink) controller.abort(new AppError("upstream_invalid_response"));
      },
      onResponseData: (controller, chunk) => {
        if (decoder) return decoder.onResponseData?.(controller, chunk);
        this.#storage?.feed(chunk);
        sink?.data(chunk);
      },
      onResponseEnd: (controller, trailers) => {
        if (decoder) return decoder.onResponseEnd?.(controller, trailers);
        this.#upstreamDone();
        this.#storage?.ended();
        sink?.end();
      },
      onResponseError: (controller, error) => {
        if (decoder) return decoder.onResponseError?.(controller, error);
        this.#upstreamDone();
        if (sink) sink.fail(error);
        else if (this.delivery.isDisconnected) this.finish({ kind: "disconnected" });
        else this.finish({ kind: "failed", failure: unreachable(error) });
      },
    };
  }

  #sinkFor(status: number): Sink | undefined {
    const { context, conversions } = this.#built as BuiltCall;
    return createSink(this, { status, headers: this.#headers, context, conversions }, this.#deps.counter);
  }

  #notSent(error: unknown): Failure {
    if (error instanceof UpstreamRefusal) return this.refused(error.upstreamError);
    return notBuilt(AppError.from(error));
  }
}

/** Returns the result of an attempt that the gateway itself stopped; no other channel is tried. */
function stoppedBy(error: AppError, failure: Failure): AttemptResult {
  return { kind: "failed", failure: { ...failure, error, retry: false } };
}
