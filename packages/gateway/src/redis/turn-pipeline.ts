import { RedisUnavailable } from "./redis-unavailable.ts";
import type { Call } from "./script.ts";

/** Calls per write; more would only delay the first ones. */
const AT_ONCE = 256;
const PARTS = 5;

interface Waiting {
  readonly call: Call;
  readonly timeoutMs: number;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
}

type Send = (calls: readonly Call[]) => Promise<readonly unknown[]>;

/**
 * Sends the calls of one event loop turn in one write. That costs half as much as one write per call, measured, and
 * Redis reads once. An answer that is an Error rejects only its own call.
 */
export function createTurn(send: Send): (call: Call, timeoutMs: number) => Promise<unknown> {
  let waiting: Waiting[] = [];
  const leave = () => {
    const calls = waiting;
    waiting = [];
    for (let from = 0; from < calls.length; from += AT_ONCE) void sendSome(send, calls.slice(from, from + AT_ONCE));
  };
  return (call, timeoutMs) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(leave);
      waiting.push({ call, timeoutMs, resolve, reject });
    });
}

/** Never rejects: a failure rejects the waiting calls. */
async function sendSome(send: Send, some: readonly Waiting[]): Promise<void> {
  const timers = [...Map.groupBy(some, ({ timeoutMs }) => timeoutMs)].map(([ms, late]) =>
    afterTurn(ms, () => {
      for (const { reject } of late) reject(tooLate(ms));
    }),
  );
  try {
    const answers = await send(some.map(({ call }) => call));
    for (const [at, { resolve, reject }] of some.entries()) {
      const answer = answers[at];
      if (answer instanceof Error) reject(answer);
      else resolve(answer);
    }
  } catch (error) {
    for (const { reject } of some) reject(error);
  } finally {
    for (const stop of timers) stop();
  }
}

/** Rejects if `work` has not settled after `ms` milliseconds; `work` itself continues. */
export function within<T>(ms: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = afterTurn(ms, () => reject(tooLate(ms)));
    work.then(resolve, reject).finally(stop);
  });
}

/**
 * Calls `act` after `ms`, but reads pending answers once more first. On a busy machine every part of the wait is late,
 * so Redis gets more time. Returns a function that stops the timer.
 */
function afterTurn(ms: number, act: () => void): () => void {
  let left = PARTS;
  const next = () => {
    left -= 1;
    if (left > 0) timer = setTimeout(next, ms / PARTS);
    else setImmediate(() => setImmediate(act));
  };
  let timer = setTimeout(next, ms / PARTS);
  return () => clearTimeout(timer);
}

function tooLate(ms: number): RedisUnavailable {
  return new RedisUnavailable(`Redis did not answer within ${ms} ms`, true);
}
