import { setTimeout } from "node:timers/promises";

/** One look after the other until `signal`, so that a slow gateway is not asked by several at once. */
export async function lookAgain(signal: AbortSignal, intervalMs: number, look: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await look();
    await setTimeout(intervalMs, undefined, { signal }).catch(() => undefined);
  }
}
