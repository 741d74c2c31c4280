import { readSync } from "node:fs";

const PART_BYTES = 65_536;
const PAUSE_MS = 5;

/**
 * Reads all of standard input. Node makes a pipe non-blocking on the first access to `process.stdin`: while
 * nothing is written to it, a read fails with EAGAIN.
 */
export function readStandardInput(): string {
  const parts: Buffer[] = [];
  const part = Buffer.alloc(PART_BYTES);
  for (;;) {
    const size = readPart(part);
    if (size === 0) return Buffer.concat(parts).toString("utf8");
    if (size !== undefined) parts.push(Buffer.from(part.subarray(0, size)));
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
  }
}

/** Returns 0 at the end; undefined while no data is available. */
function readPart(part: Buffer): number | undefined {
  try {
    return readSync(0, part);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "EAGAIN") return undefined;
    if (code === "EOF") return 0;
    throw error;
  }
}
