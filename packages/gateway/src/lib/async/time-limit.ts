import { AsyncLocalStorage } from "node:async_hooks";

/** How long a short query may take before its server counts as unavailable. */
export const ANSWER_MS = 5_000;

/** Thrown if the work took longer than its limit. */
export class TookTooLong extends Error {
  override readonly name = "TookTooLong";
}

const around = new AsyncLocalStorage<AbortSignal>();

/** Returns the limit of the current work, a signal that is aborted when its time is over; undefined if it has none. */
export function currentLimit(): AbortSignal | undefined {
  return around.getStore();
}

/**
 * Rejects if `work` takes longer. A TCP connection to a vanished host waits for a quarter of an hour or more; code
 * within `work` detects the limit through `currentLimit`, so that drivers close such a connection instead of retaining
 * it.
 */
export async function withinTime<T>(ms: number, work: (limit: AbortSignal) => Promise<T>): Promise<T> {
  const limit = new AbortController();
  let isDone = false;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const giveUp = () => {
      if (isDone) return;
      const error = new TookTooLong(`no answer within ${ms} ms`);
      limit.abort(error);
      reject(error);
    };
    // After a pause, the process first reads the answers that have arrived.
    timer = setTimeout(() => setImmediate(giveUp), ms);
  });
  try {
    return await Promise.race([around.run(limit.signal, work, limit.signal), late]);
  } finally {
    isDone = true;
    clearTimeout(timer);
  }
}
