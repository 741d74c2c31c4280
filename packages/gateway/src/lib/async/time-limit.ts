import { AsyncLocalStorage } from "node:async_hooks";

/** How long a question of a moment may take before the one who was asked counts as away. */
export const ANSWER_MS = 5_000;

/** The work took longer than its limit. */
export class TookTooLong extends Error {
  override readonly name = "TookTooLong";
}

const around = new AsyncLocalStorage<AbortSignal>();

/** The limit of the current work: aborted when its time is over; undefined if it has none. */
export function currentLimit(): AbortSignal | undefined {
  return around.getStore();
}

/**
 * Rejects when `work` takes longer. A TCP connection to a host that vanished waits a quarter of an hour and more; what
 * runs in here learns of its end by `currentLimit`, so that drivers break such a connection off instead of keeping it.
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
    // A process that was paused first reads the answers that have arrived.
    timer = setTimeout(() => setImmediate(giveUp), ms);
  });
  try {
    return await Promise.race([around.run(limit.signal, work, limit.signal), late]);
  } finally {
    isDone = true;
    clearTimeout(timer);
  }
}
