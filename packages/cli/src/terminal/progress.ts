/** One line on a terminal that is written again and again. */
export interface Progress {
  show(text: string): void;
  /** Removes the line. */
  end(): void;
}

const EVERY_MS = 100;
const ERASE = "\r\u001B[2K";

/** Writes to standard error; without a terminal nothing is written. */
export function createProgress(
  stream: Pick<NodeJS.WriteStream, "isTTY" | "write" | "columns"> = process.stderr,
): Progress {
  let shown = 0;
  let hasLine = false;
  return {
    show(text) {
      const now = performance.now();
      if (!stream.isTTY || (hasLine && now - shown < EVERY_MS)) return;
      shown = now;
      hasLine = true;
      stream.write(ERASE + text.slice(0, Math.max(1, (stream.columns || 80) - 1)));
    },
    end() {
      if (hasLine) stream.write(ERASE);
      hasLine = false;
    },
  };
}

const CELLS = 24;

/** Returns a bar such as `[######------] 50 %`. */
export function formatBar(done: number, total: number): string {
  const part = total === 0 ? 1 : Math.min(1, done / total);
  const cells = Math.floor(part * CELLS);
  return `[${"#".repeat(cells)}${"-".repeat(CELLS - cells)}] ${Math.floor(part * 100)} %`;
}
