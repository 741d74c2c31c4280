import { printable } from "../print/printable.ts";

/** Bytes that wait for a reader before the writer waits too. */
const MAX_WAITING_BYTES = 1 << 20;
/** Characters that are written at once into a pipe or a file. */
const PART = 1 << 16;

export interface StandardOutput {
  write(text: string): void;
  /** Writes what was collected. */
  flush(): void;
  /** Undefined while the reader keeps up; otherwise it resolves when there is room again. */
  room(): Promise<void> | undefined;
}

/** Lines of a pipe are collected: a write for each takes longer than the line. A terminal gets them one by one. */
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
