import {
  closeSync,
  fdatasync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { basename, join } from "node:path";

/** Journal files: `00000001.log` while an entry may not have reached Redis, `00000001.done` afterwards. */

const OPEN = ".log";
const DONE = ".done";
/** Long, because writes wait while the disk flushes; Redis flushes as rarely. */
const SYNC_MS = 1_000;

/** The position of a charge in the streams. */
export interface RecordLocation {
  readonly shard: number;
  readonly id: string;
}

export function isSegment(file: string): boolean {
  return /^\d{8}\.(?:log|done)$/.test(file);
}

interface Creation {
  /** Epoch milliseconds. */
  readonly now: number;
  readonly onSyncError: (error: unknown) => void;
}

interface Known extends Pick<Creation, "onSyncError"> {
  readonly bytes: number;
  readonly lastAt: number;
}

/** One file of lines, which is written, closed, marked as done and removed. */
export class Segment {
  #path: string;
  #file: number | undefined;
  #bytes: number;
  #isTorn = false;
  #isClosing = false;
  #syncing: "no" | "soon" | "now" = "no";
  /** Entries that have not reached Redis. */
  unacknowledged = 0;
  /** Epoch milliseconds. */
  lastAt: number;
  /** The last charge of each shard. */
  readonly places = new Map<number, string>();

  readonly #onSyncError: (error: unknown) => void;

  private constructor(path: string, file: number | undefined, of: Known) {
    this.#path = path;
    this.#file = file;
    this.#bytes = of.bytes;
    this.lastAt = of.lastAt;
    this.#onSyncError = of.onSyncError;
  }

  /** @param onSyncError called when lines may not survive a crash of the machine */
  static create(folder: string, number: number, { now, onSyncError }: Creation): Segment {
    const path = join(folder, `${String(number).padStart(8, "0")}${OPEN}`);
    return new Segment(path, openSync(path, "ax", 0o600), { bytes: 0, lastAt: now, onSyncError });
  }

  /** Returns the files of a dead process, oldest first. */
  static found(folder: string): Segment[] {
    const files = readdirSync(folder).filter(isSegment).sort();
    return files.map((file) => {
      const path = join(folder, file);
      const { size, mtimeMs } = statSync(path);
      return new Segment(path, undefined, { bytes: size, lastAt: mtimeMs, onSyncError: () => {} });
    });
  }

  get number(): number {
    return Number(basename(this.#path).slice(0, 8));
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isDone(): boolean {
    return this.#path.endsWith(DONE);
  }

  /** Appends lines. Throws when the write fails; the file may then contain a part of them. */
  append(lines: string, now: number): void {
    if (this.#file === undefined) throw new Error("the segment is closed");
    const bytes = Buffer.from(this.#isTorn ? `\n${lines}` : lines);
    this.#isTorn = true;
    for (let at = 0; at < bytes.length;) at += writeSync(this.#file, bytes, at);
    this.#isTorn = false;
    this.#bytes += bytes.length;
    this.lastAt = now;
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
      if (this.#isClosing) this.#closeFile();
      else if (this.#bytes > bytes) this.#syncSoon();
    });
  }

  close(): void {
    this.#isClosing = true;
    if (this.#bytes === 0) {
      this.#closeFile();
      this.remove();
      return;
    }
    this.#sync();
    this.#finish();
  }

  #closeFile(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  acknowledge(place: RecordLocation | undefined): void {
    this.unacknowledged -= 1;
    if (place) this.places.set(place.shard, place.id);
    this.#finish();
  }

  /** Marks the segment as done: every entry has reached Redis and none will be added. */
  #finish(): void {
    const isOpen = this.#file !== undefined && !this.#isClosing;
    if (isOpen || this.unacknowledged > 0 || this.isDone) return;
    const done = `${this.#path.slice(0, -OPEN.length)}${DONE}`;
    renameSync(this.#path, done);
    this.#path = done;
  }

  /** Returns the complete lines. */
  lines(): string[] {
    const text = readFileSync(this.#path, "utf8");
    return text.split("\n").filter((line) => line.startsWith("{") && line.endsWith("}"));
  }

  remove(): void {
    rmSync(this.#path, { force: true });
  }
}
