import type { StoredLogRow } from "./rows.ts";

export type DestinationName = "otlp" | "s3";

/** Rows whose ids are above `after` and at most `to`; the same numbers always mean the same rows. */
export interface Batch {
  readonly after: number;
  readonly to: number;
  readonly rows: readonly StoredLogRow[];
}

export interface Destination {
  readonly name: DestinationName;
  /** Rows of one batch at most. */
  readonly rowsAtOnce: number;
  /** Fewer rows than `rowsAtOnce` wait until so much time has passed since the last batch. */
  readonly everyMs: number;
  /**
   * Resolves once the destination has confirmed the batch, with the number of rows that it refused for good. Throws
   * ExportError.
   */
  send(batch: Batch, signal: AbortSignal): Promise<number>;
}

export type FailureReason = "denied" | "missing" | "full" | "busy" | "refused" | "unreachable";

/** The message is one line that says what failed and what to do; it has no secret. */
export class ExportError extends Error {
  override readonly name = "ExportError";
  readonly reason: FailureReason;
  /** The pause that the destination names. */
  readonly retryAfterMs: number | undefined;

  constructor(reason: FailureReason, message: string, retryAfterMs?: number) {
    super(message);
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}
