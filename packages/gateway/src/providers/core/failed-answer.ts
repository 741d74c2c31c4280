import type { JsonObject, JsonValue } from "../../dialects/core/types.ts";

export type ErrorClass =
  | "bad_request"
  | "bad_key"
  | "out_of_credit"
  | "rate_limit"
  | "overloaded"
  | "not_found"
  | "content_filter"
  | "timeout"
  | "server";

/** The meaning of an upstream failure. */
export interface UpstreamError {
  readonly class: ErrorClass;
  readonly retry: boolean;
  readonly disable: boolean;
  readonly message: string;
  readonly type: string | undefined;
  readonly code: string | undefined;
  readonly param: string | undefined;
  /** HTTP status of the upstream after the provider's own reading (a 200 may hold a failure). */
  readonly status: number;
  readonly retryAfterMs?: number;
  /** Verdicts of a content filter, in the form in which `innererror` shows them to clients. */
  readonly innerError?: JsonObject;
}

/** An answer that may be a failure, read as far as needed. */
export interface FailedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** The body (or the event's data) if it is JSON. */
  readonly json: JsonValue | undefined;
}

/** A refusal before the call itself: a key of the wrong form, a token exchange that failed. */
export class UpstreamRefusal extends Error {
  readonly upstreamError: UpstreamError;

  constructor(upstreamError: UpstreamError) {
    super(upstreamError.message);
    this.name = "UpstreamRefusal";
    this.upstreamError = upstreamError;
  }
}
