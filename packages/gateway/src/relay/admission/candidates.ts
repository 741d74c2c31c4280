import type { LimitedChannel } from "../../limits/request-limits.ts";
import type { AdmissionController } from "./admission-controller.ts";

/** An upstream key that may serve. */
export interface Candidate {
  readonly channel: LimitedChannel;
  readonly group: string;
  readonly keyIndex: number;
}

/** What of a room is full: one key, or the channel with all its keys. */
export type LimitScope = "key" | "channel";

/** Where room is looked for, best first. */
export interface Candidates<R extends Candidate> {
  next(): R | undefined;
  /** Passed over as if it were not there. */
  full(room: R, what: LimitScope): void;
  /** Everything that was full may be tried again, as far as it still may serve. */
  reopen(): R | undefined;
  /** What is only good enough when nobody waits any longer; the others of its kind come next. */
  lastResort(): R | undefined;
}

/** The room, or the next one of the rooms where the request fits. */
export async function firstAdmitted<R extends Candidate>(
  room: R | undefined,
  candidates: Candidates<R>,
  admission: AdmissionController | undefined,
): Promise<R | undefined> {
  if (!admission) return room;
  for (let next = room; next; next = candidates.next()) {
    if (await admission.move(next)) return next;
    candidates.full(next, admission.full);
  }
  return undefined;
}

/** Rooms of which there is but one, that was tried already. */
export function singleCandidate<R extends Candidate>(room: R): Candidates<R> {
  return { next: () => undefined, full: () => undefined, reopen: () => room, lastResort: () => undefined };
}
