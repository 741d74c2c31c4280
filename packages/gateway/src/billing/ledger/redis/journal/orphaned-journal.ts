import { setTimeout as pause } from "node:timers/promises";
import { resendFound, type ReplayDeps } from "../recovery/replay.ts";

/**
 * Charges of earlier processes on this disk that Redis took, and may have lost while nobody was there who knew of them.
 * They are compared after the start; nobody waits for it.
 */
export interface FoundJournal {
  /** Nothing in it was lost; until then its files stay. */
  readonly isChecked: boolean;
  check(): void;
  stop(): Promise<void>;
}

const AGAIN_MS = 1_000;

export function createFoundJournal(deps: ReplayDeps): FoundJournal {
  const stopping = new AbortController();
  const { signal } = stopping;
  let isChecked = false;
  let checking = Promise.resolve();

  const untilDone = async () => {
    while (!signal.aborted) {
      try {
        isChecked = await resendFound(deps, signal);
        return;
      } catch (error) {
        deps.log.warn("the journal of an earlier process could not be compared yet, it is tried again", { error });
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
