const EVERY_MS = 5_000;

/** Prints the progress of long work from time to time; short work prints nothing. */
export function saying(print: (line: string) => void): (what: string, done: number) => void {
  let saidAt = performance.now();
  return (what, done) => {
    const now = performance.now();
    if (now - saidAt < EVERY_MS) return;
    saidAt = now;
    print(`${what}: ${done.toLocaleString("en")} so far`);
  };
}
