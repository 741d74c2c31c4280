import type { Dispatcher } from "undici";
import type { Dialect, JsonObject, Usage } from "../../dialects/core/types.ts";
import type { ServedTiers } from "../../dialects/core/served-tiers.ts";
import type { AppError } from "../../lib/app-error.ts";
import type { ResponseDecoder } from "../../providers/core/response-decoder.ts";
import type { UpstreamError } from "../../providers/core/types.ts";
import type { Delivery } from "./delivery.ts";
import type { Failure } from "../upstream/failure.ts";
import type { StreamTranslation } from "../conversion/translate.ts";
import type { ReadOn } from "./unseen-output.ts";
import type { RouteTarget } from "../selection/types.ts";
import type { AttemptResult, FinishReason } from "../upstream/attempt-result.ts";
import type { RelayRequest } from "../request/request.ts";

/** Why an answer has no content: its prompt was refused, it ended regularly without any, or it broke off before. */
export type Nothing = "refused" | "empty" | "broken";

/** The facts about an answer that its charge uses. */
export interface Completion {
  readonly reason: FinishReason;
  /** Usage that the upstream reported. */
  readonly usage: Usage | undefined;
  /** Set where the client got no content: counting what was delivered gives nothing. */
  readonly nothing?: Nothing | undefined;
  /** Counts the output that was delivered; called only where the upstream's usage is missing or in doubt. */
  countOutput(): Promise<number>;
  /** Upper estimate of the same, without the encoder; undefined where nothing is delivered before it is charged. */
  outputBound?(): number;
  /** Bytes of the answer as it arrived; undefined where they do not limit its tokens. */
  readonly bytes?: number;
  /** Calls of tools that the vendor ran. */
  readonly toolCalls?: Readonly<Record<string, number>> | undefined;
  /** Milliseconds that the model may have thought unseen; set where its usage did not come. */
  readonly unseenMs?: number | undefined;
  /** The model that the answer names. */
  readonly model?: string | undefined;
  /** The tiers that the answer names as those that served. */
  readonly servedTiers?: ServedTiers | undefined;
  /** Monotonic milliseconds of the first content; undefined when there was none. */
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
  /** Monotonic milliseconds of the call. */
  readonly startedAt: number;
  /** How far a stream is read whose client left; undefined = no further. */
  readonly readOn: ReadOn | undefined;
  /** Charges exactly once; resolves with the usage that was charged when the charge can no longer be lost. */
  settle(completion: Completion): Promise<Usage>;
  /** A whole answer of the upstream, before it is sent. */
  answered(answer: JsonObject): void;
  /** Upper estimate of the output so far, used where the reservation can grow; may lead to a call of `stop`. */
  progress(outputBound: () => number): void;
  /** Output tokens that are reserved where the reservation grows with the answer; Infinity elsewhere. */
  readonly outputRoom: number;
  /**
   * Raises the reservation to an answer of this length: resolves when it is covered, or when the stream has been stopped
   * because it is not. Never rejects.
   */
  grow(atMost: number, exactly: () => Promise<number>): Promise<void>;
  /** Ends the attempt; the first call counts. */
  finish(result: AttemptResult): void;
  /** Reports an internal error to the operator. */
  fault(error: unknown): void;
  /** Classifies an upstream's failure. */
  classifyFailure(status: number, body: Buffer): Failure;
  /** The same for a failure that was read already; hides what belongs to the operator. */
  refused(upstreamError: UpstreamError): Failure;
}

/** How the stream of one upstream is read. */
export interface UpstreamStream {
  readonly decoder: ResponseDecoder;
  /** Protocol of the decoder's output. */
  readonly upstream: Dialect;
  /** Undefined when the client speaks that protocol too. */
  readonly translation: StreamTranslation | undefined;
}

/** Takes the body of one upstream answer. */
export interface Sink {
  data(chunk: Buffer): void;
  end(): void;
  /** The upstream's connection broke, timed out, or was aborted from this side. */
  fail(error: Error): void;
  /** The completion that would be charged if the answer ended now; undefined while nothing has reached the client. */
  soFar(): Completion | undefined;
  /** Answers that are collected before they are sent: true when more than keep-alives has arrived. */
  hasContent?(): boolean;
  /** The client left; true where the answer is read further to learn its cost. */
  readsOn?(): boolean;
  /** Ends a running answer from this side: drain, empty balance. */
  stop(error: AppError, reason: FinishReason): void;
}
