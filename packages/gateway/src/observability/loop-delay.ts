import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Runnable } from "../lib/async/runnable.ts";

const WINDOW_MS = 5_000;
const RESOLUTION_MS = 20;
const NS_PER_MS = 1e6;

/** Measures how late the event loop runs callbacks. */
export interface LoopDelay extends Runnable {
  /** Returns the 99th percentile of the last five to ten seconds, in milliseconds. */
  p99Ms(): number;
}

export function createLoopDelay(): LoopDelay {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  let before = 0;
  let timer: NodeJS.Timeout | undefined;
  const current = () => (histogram.count === 0 ? 0 : histogram.percentile(99) / NS_PER_MS);
  return {
    name: "event loop delay",
    p99Ms: () => Math.max(before, current()),
    start() {
      histogram.enable();
      timer = setInterval(() => {
        before = current();
        histogram.reset();
      }, WINDOW_MS).unref();
    },
    stop() {
      clearInterval(timer);
      histogram.disable();
    },
  };
}
