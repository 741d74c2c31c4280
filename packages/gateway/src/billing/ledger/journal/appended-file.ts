import { closeSync, fdatasync, openSync, writeSync } from "node:fs";

/** Long, because writes wait while the disk flushes; Redis flushes as rarely. */
const SYNC_MS = 1_000;
const NEW_LINE = 0x0a;

/** A file that lines are appended to: they survive a crash of the process at once, one of the machine after a second. */
export class AppendedFile {
  #file: number | undefined;
  #bytes = 0;
  #isTorn = false;
  #isClosing = false;
  #syncing: "no" | "soon" | "now" = "no";
  readonly #onSyncError: (error: unknown) => void;

  /** Creates the file; throws if it exists. @param onSyncError called when lines may not survive a crash of the machine */
  constructor(path: string, onSyncError: (error: unknown) => void) {
    this.#file = openSync(path, "ax", 0o600);
    this.#onSyncError = onSyncError;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Appends texts, each as a line. Throws when the write fails; the file may then contain a part of them. */
  append(texts: readonly string[]): void {
    if (this.#file === undefined) throw new Error("the file is closed");
    const bytes = encodeLines(this.#isTorn ? ["", ...texts] : texts);
    this.#isTorn = true;
    for (let at = 0; at < bytes.length;) at += writeSync(this.#file, bytes, at);
    this.#isTorn = false;
    this.#bytes += bytes.length;
    this.#syncSoon();
  }

  /** Flushes to disk in the background, to survive a crash of the whole machine. */
  #syncSoon(): void {
    if (this.#syncing !== "no") return;
    this.#syncing = "soon";
    setTimeout(() => this.#sync(), SYNC_MS).unref();
  }

  #sync(): void {
    const file = this.#file;
    if (file === undefined || this.#syncing === "now") return;
    this.#syncing = "now";
    const bytes = this.#bytes;
    fdatasync(file, (error) => {
      this.#syncing = "no";
      if (error) this.#onSyncError(error);
      if (this.#isClosing) this.#close();
      else if (this.#bytes > bytes) this.#syncSoon();
    });
  }

  /** Closes the file after a last flush. */
  close(): void {
    this.#isClosing = true;
    if (this.#bytes === 0) this.#close();
    else this.#sync();
  }

  #close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  get isOpen(): boolean {
    return this.#file !== undefined && !this.#isClosing;
  }
}

/** Joining the texts first would copy each of them twice. */
function encodeLines(texts: readonly string[]): Buffer {
  const bytes = Buffer.allocUnsafe(texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0));
  let at = 0;
  for (const text of texts) {
    at += bytes.write(text, at);
    at = bytes.writeUInt8(NEW_LINE, at);
  }
  return bytes;
}

/** Returns the complete lines of a text that was appended; a crash may have truncated the last one. */
export function splitLines(text: string): string[] {
  return text.split("\n").filter((line) => line.startsWith("{") && line.endsWith("}"));
}
