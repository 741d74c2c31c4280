import type { LimitedChannel } from "../../limits/request-limits.ts";
import type { LimitScope } from "../selection/types.ts";

/** An upstream key that may serve. */
export interface Candidate {
  readonly channel: LimitedChannel;
  readonly group: string;
  readonly keyIndex: number;
}

/** The channels and keys that may serve a request, best first. */
export interface Candidates<R extends Candidate> {
  next(): R | undefined;
  /** Marks the candidate as at its limit; it is not returned again. */
  full(candidate: R, what: LimitScope): void;
  /** Starts again with all candidates that may still serve. */
  reopen(): R | undefined;
  /** Returns a candidate to use only after the wait has ended; `next` returns the others like it. */
  lastResort(): R | undefined;
}

/** Moves a request's limits from one channel to the next. */
interface Mover {
  /** False if the channel is at its limit. */
  move(candidate: Candidate): Promise<boolean>;
  /** The scope that was at its limit when `move` last returned false. */
  readonly full: LimitScope;
}

/** Returns the first of `candidate` and its successors whose limits allow the request. */
export async function firstAdmitted<R extends Candidate>(
  candidate: R | undefined,
  candidates: Candidates<R>,
  admission: Mover | undefined,
): Promise<R | undefined> {
  if (!admission) return candidate;
  for (let next = candidate; next; next = candidates.next()) {
    if (await admission.move(next)) return next;
    candidates.full(next, admission.full);
  }
  return undefined;
}

/** Returns the only candidate, after its first attempt. */
export function singleCandidate<R extends Candidate>(candidate: R): Candidates<R> {
  return { next: () => undefined, full: () => undefined, reopen: () => candidate, lastResort: () => undefined };
}
