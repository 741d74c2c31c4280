import { printable } from "../print/printable.ts";

/** How many bytes may wait for a reader before the writer waits too. */
const MAX_WAITING_BYTES = 1 << 20;
/** How many characters are written at once to a pipe or a file. */
const PART = 1 << 16;

export interface StandardOutput {
  write(text: string): void;
  /** Writes the collected lines. */
  flush(): void;
  /** Undefined while the reader keeps up; otherwise it resolves when there is room again. */
  room(): Promise<void> | undefined;
}

/** Collects lines for a pipe, because a write per line takes longer than the line. A terminal gets them one by one. */
export function openStandardOutput(stream: NodeJS.WriteStream): StandardOutput {
  if (stream.isTTY)
    return {
      write: (text) => void stream.write(printable(text, "\n\t")),
      flush: () => undefined,
      room: () => undefined,
    };
  let parts: string[] = [];
  let size = 0;
  const flush = () => {
    if (size === 0) return;
    const text = parts.join("");
    parts = [];
    size = 0;
    stream.write(text);
  };
  return {
    write(text) {
      if (size === 0) setImmediate(flush);
      parts.push(text);
      size += text.length;
      if (size > PART) flush();
    },
    flush,
    room() {
      if (stream.writableLength < MAX_WAITING_BYTES) return undefined;
      return new Promise((resolve) => stream.once("drain", resolve));
    },
  };
}
