import { setTimeout } from "node:timers/promises";

/**
 * Runs `read` until `signal` aborts. Each read starts after the last one ended, so that a slow gateway gets one at a
 * time.
 */
export async function poll(signal: AbortSignal, intervalMs: number, read: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await read();
    await setTimeout(intervalMs, undefined, { signal }).catch(() => undefined);
  }
}
