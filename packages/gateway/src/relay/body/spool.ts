import { randomUUID } from "node:crypto";
import { open, unlink, type FileHandle } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { AppError } from "../../lib/app-error.ts";

/** Bytes that are written once and read any number of times: in memory up to 256 KiB, in a file beyond that. */
export interface Spool {
  readonly size: number;
  /** Resolves when more may be written; undefined = at once. Throws `spool_full` if the shared room is used up. */
  write(chunk: Buffer): Promise<void> | undefined;
  /** Reads into the buffer from `position`; resolves with the number of bytes. */
  readAt(into: Uint8Array, position: number): Promise<number>;
  /** Reads the bytes from `start` to `end`, `end` excluded. */
  read(start: number, end: number): Readable;
  /** Frees the memory and closes the file; running readers are destroyed. */
  dispose(): Promise<void>;
}

/** The room that all spools of this process share, so that uploads end with 503 before the disk of the node is full. */
export interface SpoolDisk {
  /** Throws `spool_full`. */
  take(bytes: number): void;
  give(bytes: number): void;
}

const RETRY_MS = 5_000;

export function createSpoolDisk(maxBytes: number, refused: () => void = () => undefined): SpoolDisk {
  let used = 0;
  return {
    take(bytes) {
      if (used + bytes > maxBytes) {
        refused();
        throw new AppError("spool_full", { retryAfterMs: RETRY_MS });
      }
      used += bytes;
    },
    give: (bytes) => void (used -= bytes),
  };
}

const IN_MEMORY_BYTES = 256 * 1024;
const READ_BYTES = 64 * 1024;

export function createSpool(disk?: SpoolDisk): Spool {
  let memory: Buffer[] = [];
  let size = 0;
  let file: FileHandle | undefined;
  let writing: Promise<void> = Promise.resolve();
  let isDisposed = false;
  const readers = new Set<Readable>();

  const spill = async (bytes: Buffer) => {
    if (isDisposed) return;
    file ??= await temporaryFile();
    for (let done = 0; done < bytes.length;) done += (await file.write(bytes, done)).bytesWritten;
  };

  return {
    get size() {
      return size;
    },
    write(chunk) {
      disk?.take(chunk.length);
      size += chunk.length;
      memory.push(chunk);
      if (size <= IN_MEMORY_BYTES) return undefined;
      const bytes = Buffer.concat(memory);
      memory = [];
      writing = writing.then(() => spill(bytes));
      return writing;
    },
    async readAt(into, position) {
      if (size <= IN_MEMORY_BYTES) {
        const bytes = Buffer.concat(memory).subarray(position, position + into.length);
        into.set(bytes);
        return bytes.length;
      }
      if (!file) throw new Error("the upload was disposed of");
      return (await file.read(into, 0, into.length, position)).bytesRead;
    },
    read(start, end) {
      if (start >= end) return Readable.from([]);
      if (size <= IN_MEMORY_BYTES) return Readable.from([Buffer.concat(memory).subarray(start, end)]);
      if (!file) throw new Error("the upload was disposed of");
      const reader = Readable.from(readRange(file, start, end), { objectMode: false, highWaterMark: READ_BYTES });
      readers.add(reader);
      return reader.once("close", () => readers.delete(reader));
    },
    async dispose() {
      if (!isDisposed) disk?.give(size);
      isDisposed = true;
      memory = [];
      for (const reader of readers) reader.destroy();
      await writing.catch(() => undefined);
      await file?.close();
    },
  };
}

/** A stream of the file itself would close the file for all others when its reader stops early. */
async function* readRange(file: FileHandle, start: number, end: number): AsyncGenerator<Buffer> {
  for (let at = start; at < end;) {
    const buffer = Buffer.allocUnsafe(Math.min(READ_BYTES, end - at));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
    if (bytesRead === 0) throw new Error("the spooled bytes end early");
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** Opens a file and removes its name at once: the system deletes it however the process ends. */
async function temporaryFile(): Promise<FileHandle> {
  const path = join(tmpdir(), `fairway-${randomUUID()}`);
  const file = await open(path, "wx+", 0o600);
  try {
    await unlink(path);
  } catch (error) {
    await file.close();
    throw error;
  }
  return file;
}
