import type { Hold } from "./ledger.ts";
import type { Quota } from "../money/quota.ts";

/** A reservation of a request that this process serves. */
export interface OpenHold {
  readonly hold: Hold;
  /** Grows when it is extended. */
  amount: Quota;
  /** What would be due if the process died now; "" = nothing was delivered. */
  seen: string;
  /** Reserved in the database because Redis was away. */
  readonly isDirect: boolean;
}

/** What this process could tell a Redis that lost its memory, and which of its requests have ended. */
export interface OpenHolds {
  add(hold: Hold, isDirect: boolean): void;
  get(requestId: string): OpenHold | undefined;
  /** All that are reserved in Redis. */
  live(): OpenHold[];
  /** Ends a request once: later calls answer the first one's promise. */
  end(requestId: string, work: (open: OpenHold | undefined) => Promise<void>): Promise<void>;
}

/** Ended requests that are remembered, at least; a repetition comes within moments. */
const REMEMBERED = 10_000;

export function createOpenHolds(): OpenHolds {
  const open = new Map<string, OpenHold>();
  // Two generations: taking the oldest entry off one map again and again costs a walk over all that were taken before.
  let ended = new Map<string, Promise<void>>();
  let endedBefore = new Map<string, Promise<void>>();
  return {
    add: (hold, isDirect) => void open.set(hold.requestId, { hold, amount: hold.amount, seen: "", isDirect }),
    get: (requestId) => open.get(requestId),
    live: () => [...open.values()].filter(({ isDirect }) => !isDirect),
    end(requestId, work) {
      const known = ended.get(requestId) ?? endedBefore.get(requestId);
      if (known) return known;
      const ending = work(open.get(requestId));
      open.delete(requestId);
      ended.set(requestId, ending);
      if (ended.size >= REMEMBERED) {
        endedBefore = ended;
        ended = new Map();
      }
      return ending;
    },
  };
}
