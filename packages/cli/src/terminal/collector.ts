import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Collects garbage on every nth call. Without it, the garbage of a million rows, or of a screen that reads a list for
 * ten minutes, grows to three times the memory that the program needs before V8 collects it.
 */
export function createCollector(every: number): () => void {
  let calls = 0;
  let collect: (() => void) | undefined;
  return () => {
    calls += 1;
    if (calls % every !== 0) return;
    if (!collect) {
      setFlagsFromString("--expose-gc");
      collect = runInNewContext("gc") as () => void;
    }
    collect();
  };
}

/**
 * Keeps V8's young generation at its initial size. In a program that produces garbage for minutes, V8 doubles it, up to
 * 48 MB. Call this before drawing a screen that may stay for hours: its garbage is small, and collecting it takes a
 * millisecond.
 */
export function limitYoungGeneration(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
}
