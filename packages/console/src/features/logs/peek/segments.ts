import type { ExplainedAttempt, LogExplanation } from "@fairway/wire";

export interface Segment {
  readonly kind: "queue" | "wait" | "ok" | "failed";
  /** Percent of the axis. */
  readonly left: number;
  readonly width: number;
}

type Times = Pick<ExplainedAttempt, "start_ms" | "first_byte_ms" | "duration_ms" | "outcome">;

/** Returns the milliseconds of the whole axis: the call, or the last attempt if that ended later. */
export function calculateScale({
  total_ms: total,
  attempts,
}: Pick<LogExplanation, "total_ms"> & { readonly attempts: readonly Times[] }): number {
  return Math.max(1, total, ...attempts.map(({ start_ms: start, duration_ms: duration }) => start + duration));
}

/** Returns the wait for the first byte, then the answer; a failure without a byte is one part. */
export function attemptSegments(attempt: Times, scale: number): Segment[] {
  const { start_ms: start, first_byte_ms: first, duration_ms: duration, outcome } = attempt;
  const part = (ms: number) => (100 * Math.max(0, ms)) / scale;
  const kind = outcome === "ok" ? "ok" : "failed";
  if (first < 0) return [{ kind, left: part(start), width: part(duration) }];
  const wait = Math.min(first, duration);
  return [
    { kind: "wait", left: part(start), width: part(wait) },
    { kind, left: part(start + wait), width: part(duration - wait) },
  ];
}
