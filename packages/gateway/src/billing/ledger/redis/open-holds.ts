import type { Hold } from "../ledger.ts";
import type { Quota } from "../../money/quota.ts";

/** The reservation of a request that this process serves. */
export interface OpenHold {
  readonly hold: Hold;
  /** Increases with each extension. */
  amount: Quota;
  /** The settlement due if the process dies now; "" = nothing was delivered. */
  seen: string;
  /** Reserved in the database because Redis was unavailable. */
  readonly isDirect: boolean;
  /** The remaining balance is below the reservation, so the next request may need the unused part. */
  readonly isTight: boolean;
}

/** The open reservations of this process, which it restores in a Redis that lost its data, and its ended requests. */
export interface OpenHolds {
  add(hold: Hold, how: Pick<OpenHold, "isDirect" | "isTight">): void;
  get(requestId: string): OpenHold | undefined;
  /** Returns all reservations in Redis. */
  live(): OpenHold[];
  /** Ends a request once: later calls return the first promise. */
  end(requestId: string, work: (open: OpenHold | undefined) => Promise<void>): Promise<void>;
}

/** Minimum number of ended requests to remember; repetitions arrive within moments. */
const REMEMBERED = 10_000;

export function createOpenHolds(): OpenHolds {
  const open = new Map<string, OpenHold>();
  // Two generations: removing the oldest entry of a single map walks over every entry removed before.
  let ended = new Map<string, Promise<void>>();
  let endedBefore = new Map<string, Promise<void>>();
  return {
    add: (hold, { isDirect, isTight }) =>
      void open.set(hold.requestId, { hold, amount: hold.amount, seen: "", isDirect, isTight }),
    get: (requestId) => open.get(requestId),
    live: () => [...open.values()].filter(({ isDirect }) => !isDirect),
    end(requestId, work) {
      const known = ended.get(requestId) ?? endedBefore.get(requestId);
      if (known) return known;
      const closed = work(open.get(requestId));
      open.delete(requestId);
      ended.set(requestId, closed);
      if (ended.size >= REMEMBERED) {
        endedBefore = ended;
        ended = new Map();
      }
      return closed;
    },
  };
}
