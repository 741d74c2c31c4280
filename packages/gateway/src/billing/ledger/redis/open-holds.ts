import type { Hold } from "../ledger.ts";
import type { RunningSum, RunningSums } from "../journal/running-sums.ts";
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
  /** Notes the settlement that is due if this process dies now. */
  see(requestId: string, seen: string): void;
  /** Returns all reservations in Redis. */
  live(): OpenHold[];
  /** Ends a request once: later calls return the first promise. */
  end(requestId: string, work: (open: OpenHold | undefined) => Promise<void>): Promise<void>;
}

/** Minimum number of ended requests to remember; repetitions arrive within moments. */
const REMEMBERED = 10_000;

export function createOpenHolds(sums: RunningSums): OpenHolds {
  const open = new Map<string, OpenHold>();
  const listSums = () => [...open.values()].filter(({ seen }) => seen !== "").map(toSum);
  // Two generations: removing the oldest entry of a single map walks over every entry removed before.
  let ended = new Map<string, Promise<void>>();
  let endedBefore = new Map<string, Promise<void>>();
  return {
    add: (hold, { isDirect, isTight }) =>
      void open.set(hold.requestId, { hold, amount: hold.amount, seen: "", isDirect, isTight }),
    get: (requestId) => open.get(requestId),
    see(requestId, seen) {
      const known = open.get(requestId);
      if (!known) return;
      known.seen = seen;
      sums.write(toSum(known), listSums);
    },
    live: () => [...open.values()].filter(({ isDirect }) => !isDirect),
    end(requestId, work) {
      const before = ended.get(requestId) ?? endedBefore.get(requestId);
      if (before) return before;
      const known = open.get(requestId);
      const closed = work(known);
      open.delete(requestId);
      if (known && known.seen !== "") sums.end(requestId);
      ended.set(requestId, closed);
      if (ended.size >= REMEMBERED) {
        endedBefore = ended;
        ended = new Map();
      }
      return closed;
    },
  };
}

function toSum({ hold: { requestId, userId, tokenId }, amount, seen }: OpenHold): RunningSum {
  return { request_id: requestId, user_id: userId, token_id: tokenId, amount, seen };
}
