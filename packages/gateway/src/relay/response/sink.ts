import type { FallbackCause } from "@fairway/wire";
import type { Dispatcher } from "undici";
import type { Dialect, JsonObject, Usage } from "../../dialects/core/types.ts";
import type { ServedTiers } from "../../dialects/core/served-tiers.ts";
import type { AppError } from "../../lib/app-error.ts";
import type { ResponseDecoder } from "../../providers/core/response-decoder.ts";
import type { UpstreamError } from "../../providers/core/failed-answer.ts";
import type { Delivery } from "./delivery.ts";
import type { Failure } from "../upstream/failure.ts";
import type { StreamTranslation } from "../conversion/translate.ts";
import type { ReadOn } from "./unseen-output.ts";
import type { RouteTarget } from "../selection/types.ts";
import type { AttemptResult, FinishReason } from "../upstream/attempt-result.ts";
import type { TracedExchange } from "../upstream/traced-exchange.ts";
import type { RelayRequest } from "../request/request.ts";

/** Why an answer has no content: its prompt was refused, it ended regularly without any, or it broke off before. */
export type Nothing = "refused" | "empty" | "broken";

/** The facts about an answer that its charge uses. */
export interface Completion {
  readonly reason: FinishReason;
  /** Usage that the upstream reported. */
  readonly usage: Usage | undefined;
  /** Set if the client got no content: there is no delivered output to count. */
  readonly nothing?: Nothing | undefined;
  /** Counts the output that was delivered; called only if the upstream's usage is missing or in doubt. */
  countOutput(): Promise<number>;
  /** Upper estimate of the same, without the encoder; undefined if nothing is delivered before it is charged. */
  outputBound?(): number;
  /** Bytes of the answer as it arrived; undefined if they do not limit its tokens. */
  readonly bytes?: number;
  /** Calls of tools that the vendor ran. */
  readonly toolCalls?: Readonly<Record<string, number>> | undefined;
  /** Milliseconds that the model may have reasoned without visible output; set if its usage did not come. */
  readonly unseenMs?: number | undefined;
  /** The model that the answer names. */
  readonly model?: string | undefined;
  /** The tiers that served, according to the answer. */
  readonly servedTiers?: ServedTiers | undefined;
  /** Monotonic milliseconds of the first content; undefined if there was none. */
  readonly firstContentAt: number | undefined;
}

/** The parts of an attempt that its sink uses. */
export interface SinkContext {
  readonly request: RelayRequest;
  readonly target: RouteTarget;
  readonly delivery: Delivery;
  /** The client's protocol. */
  readonly dialect: Dialect;
  readonly controller: Dispatcher.DispatchController;
  /** Set for a traced call, whose span shows what it read. */
  readonly exchange?: TracedExchange | undefined;
  /** Monotonic milliseconds of the call. */
  readonly startedAt: number;
  /** True if the request has another model for answers that end for this cause. */
  fallsBack(cause: FallbackCause): boolean;
  /** How far a stream is read after its client has left; undefined = no further. */
  readonly readOn: ReadOn | undefined;
  /** Charges exactly once; resolves with the usage that was charged when the charge can no longer be lost. */
  settle(completion: Completion): Promise<Usage>;
  /** Called with a whole answer of the upstream, before it is sent. */
  answered(answer: JsonObject): void;
  /** Upper estimate of the output so far, used if the reservation can grow; may lead to a call of `stop`. */
  progress(outputBound: () => number): void;
  /** Output tokens that are reserved, if the reservation grows with the answer; Infinity otherwise. */
  readonly outputRoom: number;
  /**
   * Raises the reservation to an answer of this length: resolves when it is covered, or when the stream has been
   * stopped because it is not. Never rejects.
   */
  grow(atMost: number, exactly: () => Promise<number>): Promise<void>;
  /** Ends the attempt; the first call counts. */
  finish(result: AttemptResult): void;
  /** Reports an internal error to the operator. */
  fault(error: unknown): void;
  /** Classifies an upstream's failure. */
  classifyFailure(status: number, body: Buffer): Failure;
  /** The same for a failure that was already read; hides what belongs to the operator. */
  refused(upstreamError: UpstreamError): Failure;
}

/** How the stream of one upstream is read. */
export interface UpstreamStream {
  readonly decoder: ResponseDecoder;
  /** Protocol of the decoder's output. */
  readonly upstream: Dialect;
  /** Undefined if the client speaks that protocol too. */
  readonly translation: StreamTranslation | undefined;
}

/** Takes the body of one upstream answer. */
export interface Sink {
  data(chunk: Buffer): void;
  end(): void;
  /** Called when the upstream's connection broke, timed out, or was aborted from the gateway's side. */
  fail(error: Error): void;
  /** The completion that would be charged if the answer ended now; undefined while nothing has reached the client. */
  soFar(): Completion | undefined;
  /** For answers that are collected before they are sent: true if more than keep-alives has arrived. */
  hasContent?(): boolean;
  /** Called when the client leaves; true if the answer is read further to learn its cost. */
  readsOn?(): boolean;
  /** Ends a running answer from the gateway's side: drain, empty balance. */
  stop(error: AppError, reason: FinishReason): void;
}
