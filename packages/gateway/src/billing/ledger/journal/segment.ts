import { readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { AppendedFile, splitLines } from "./appended-file.ts";

/** Journal files: `00000001.log` while an entry may not have reached Redis, `00000001.done` afterwards. */

const OPEN = ".log";
const DONE = ".done";

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

/** One file of lines, which is written, closed, marked as done and removed. */
export class Segment {
  #path: string;
  readonly #file: AppendedFile | undefined;
  readonly #foundBytes: number;
  /** Entries that have not reached Redis. */
  unacknowledged = 0;
  /** Epoch milliseconds. */
  lastAt: number;
  /** The last charge of each shard. */
  readonly places = new Map<number, string>();

  private constructor(path: string, file: AppendedFile | undefined, found: { bytes: number; lastAt: number }) {
    this.#path = path;
    this.#file = file;
    this.#foundBytes = found.bytes;
    this.lastAt = found.lastAt;
  }

  /** @param onSyncError called when lines may not survive a crash of the machine */
  static create(folder: string, number: number, { now, onSyncError }: Creation): Segment {
    const path = join(folder, `${String(number).padStart(8, "0")}${OPEN}`);
    return new Segment(path, new AppendedFile(path, onSyncError), { bytes: 0, lastAt: now });
  }

  /** Returns the files of a dead process, oldest first. */
  static found(folder: string): Segment[] {
    const files = readdirSync(folder).filter(isSegment).sort();
    return files.map((file) => {
      const path = join(folder, file);
      const { size, mtimeMs } = statSync(path);
      return new Segment(path, undefined, { bytes: size, lastAt: mtimeMs });
    });
  }

  get number(): number {
    return Number(basename(this.#path).slice(0, 8));
  }

  get bytes(): number {
    return this.#file?.bytes ?? this.#foundBytes;
  }

  get isDone(): boolean {
    return this.#path.endsWith(DONE);
  }

  /** Appends lines. Throws when the write fails; the file may then contain a part of them. */
  append(lines: readonly string[], now: number): void {
    if (this.#file === undefined) throw new Error("the segment is closed");
    this.#file.append(lines);
    this.lastAt = now;
  }

  close(): void {
    this.#file?.close();
    if (this.bytes === 0) this.remove();
    else this.#finish();
  }

  acknowledge(place: RecordLocation | undefined): void {
    this.unacknowledged -= 1;
    if (place) this.places.set(place.shard, place.id);
    this.#finish();
  }

  /** Marks the segment as done: every entry has reached Redis and none will be added. */
  #finish(): void {
    if (this.#file?.isOpen || this.unacknowledged > 0 || this.isDone) return;
    const done = `${this.#path.slice(0, -OPEN.length)}${DONE}`;
    renameSync(this.#path, done);
    this.#path = done;
  }

  /** Returns the complete lines. */
  lines(): string[] {
    return splitLines(readFileSync(this.#path, "utf8"));
  }

  remove(): void {
    rmSync(this.#path, { force: true });
  }
}
