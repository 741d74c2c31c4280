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
  /** Maximum number of rows in a batch. */
  readonly rowsAtOnce: number;
  /** If there are fewer than `rowsAtOnce` rows, they wait until this time has passed since the last batch. */
  readonly everyMs: number;
  /**
   * Resolves with the number of rows that the destination refused permanently, once it has confirmed the batch. Throws
   * ExportError.
   */
  send(batch: Batch, signal: AbortSignal): Promise<number>;
}

export type FailureReason = "denied" | "missing" | "full" | "busy" | "refused" | "unreachable";

/** An error whose message is one line that says what failed and what to do; it contains no secret. */
export class ExportError extends Error {
  override readonly name = "ExportError";
  readonly reason: FailureReason;
  /** The pause that the destination requests. */
  readonly retryAfterMs: number | undefined;

  constructor(reason: FailureReason, message: string, retryAfterMs?: number) {
    super(message);
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}
