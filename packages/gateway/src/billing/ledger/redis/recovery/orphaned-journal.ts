import { setTimeout as pause } from "node:timers/promises";
import { resendUnacknowledged, type ReplayDeps } from "./replay.ts";

/**
 * Charges of earlier processes on this disk that Redis acknowledged and may have lost while no process could detect it.
 * They are compared in the background after the start.
 */
export interface OrphanedJournal {
  /** True once none of them is missing; until then, the files are not removed. */
  readonly isChecked: boolean;
  check(): void;
  stop(): Promise<void>;
}

const AGAIN_MS = 1_000;

export function createOrphanedJournal(deps: ReplayDeps): OrphanedJournal {
  const stopping = new AbortController();
  const { signal } = stopping;
  let isChecked = false;
  let checking = Promise.resolve();

  const untilDone = async () => {
    while (!signal.aborted) {
      try {
        isChecked = await resendUnacknowledged(deps, signal);
        return;
      } catch (error) {
        deps.log.warn("the journal of an earlier process could not be compared yet and will be retried", { error });
        await pause(AGAIN_MS, undefined, { signal, ref: false }).catch(() => undefined);
      }
    }
  };

  return {
    get isChecked() {
      return isChecked;
    },
    check: () => void (checking = untilDone()),
    async stop() {
      stopping.abort();
      await checking;
    },
  };
}
