import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Collects garbage whenever `every` calls were made, or what calls name has reached that amount. Without it, the garbage of a million rows, or of a screen that reads a list for
 * ten minutes, grows to three times the memory that the program needs before V8 collects it.
 */
export function createCollector(every: number): (amount?: number) => void {
  let reached = 0;
  let collect: (() => void) | undefined;
  return (amount = 1) => {
    reached += amount;
    if (reached < every) return;
    reached = 0;
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
