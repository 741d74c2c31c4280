const EVERY_MS = 5_000;

/** Says now and then how far long work is; short work says nothing. */
export function saying(print: (line: string) => void): (what: string, done: number) => void {
  let saidAt = performance.now();
  return (what, done) => {
    const now = performance.now();
    if (now - saidAt < EVERY_MS) return;
    saidAt = now;
    print(`${what}: ${done.toLocaleString("en")} so far`);
  };
}
