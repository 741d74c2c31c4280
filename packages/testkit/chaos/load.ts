import { send, type Ask, type Outcome, type Target } from "./client.ts";

/** Models of the mix; their names say what the fake upstream does. */
export const MODELS = {
  plain: "plain",
  retry: "retry",
  stream: "slow-40+long-25",
  long: "slow-100+long-50",
  abort: "slow-40+long-400",
} as const;

const STREAMED = new Set<Ask["kind"]>(["stream", "long", "abort"]);
/** Twenty requests that are repeated. */
const MIX = (
  "plain stream plain retry plain abort plain stream plain plain " +
  "retry plain stream plain abort plain long plain stream retry"
).split(" ") as Ask["kind"][];
const LEAVE_AFTER_MS = [150, 400, 900, 1_500];
/** Limits open requests, so that a gateway that answers none does not overload the test machine. */
const MAX_OPEN = 300;

/** Returns the target of the next request; undefined while no replica is in rotation. */
export type Route = (serial: number) => Target | undefined;

export interface Load {
  /** All requests that have ended so far, oldest first. */
  readonly outcomes: readonly Outcome[];
  readonly open: number;
  /** Requests that were not sent because no replica was in rotation, or too many were open. */
  readonly withheld: number;
  /** Resolves when everything that started before that time has ended. */
  endedBefore(time: number): Promise<void>;
  /** Sends nothing more and waits for the open requests. */
  stop(): Promise<void>;
}

/** Starts requests at a steady rate, whatever their results. */
export function startLoad(perSecond: number, route: Route): Load {
  const outcomes: Outcome[] = [];
  const running = new Map<Promise<void>, number>();
  let serial = 0;
  let withheld = 0;

  const follow = async (ask: Ask, target: Target) => void outcomes.push(await send(ask, target));
  const next = () => {
    const ask = buildAsk(serial);
    const target = running.size < MAX_OPEN ? route(serial) : undefined;
    serial += 1;
    if (!target) {
      withheld += 1;
      return;
    }
    const done = follow(ask, target);
    running.set(done, performance.now());
    void done.finally(() => running.delete(done));
  };
  const timer = setInterval(next, 1000 / perSecond);

  return {
    outcomes,
    get open() {
      return running.size;
    },
    get withheld() {
      return withheld;
    },
    async endedBefore(time) {
      await Promise.all([...running].filter(([, startedAt]) => startedAt < time).map(([done]) => done));
    },
    async stop() {
      clearInterval(timer);
      await Promise.all(running.keys());
    },
  };
}

function buildAsk(serial: number): Ask {
  const kind = MIX[serial % MIX.length] ?? "plain";
  const ask = { kind, model: MODELS[kind], isStream: STREAMED.has(kind) };
  return kind === "abort"
    ? { ...ask, leaveAfterMs: LEAVE_AFTER_MS[(serial >> 1) % LEAVE_AFTER_MS.length] ?? 400 }
    : ask;
}
