import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "../../../../observability/log.ts";

export interface Reconnection {
  readonly compare: () => Promise<void>;
  /** False once the connection has changed again. */
  readonly isCurrent: () => boolean;
  readonly log: Logger;
}

const LOOK_AGAIN_MS = 1_000;

/**
 * Repeats the comparison after a reconnection until it succeeds or the connection changes, because no other check finds
 * balances that are too high. Never rejects.
 */
export async function untilCompared({ compare, isCurrent, log }: Reconnection): Promise<void> {
  while (isCurrent()) {
    try {
      return await compare();
    } catch (error) {
      log.warn("Redis could not be checked after the reconnection; retrying", { error });
      await pause(LOOK_AGAIN_MS);
    }
  }
}
