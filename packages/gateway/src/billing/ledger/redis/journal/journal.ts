import type { Clock } from "../../../../lib/clock.ts";
import type { Logger } from "../../../../observability/log.ts";
import { type OwnFolder, takeFolder, takeOrphans } from "./folder.ts";
import { type RecordLocation, Segment } from "./segment.ts";

/** One line in a file, until Redis has taken it. */
export interface JournalEntry {
  readonly text: string;
  readonly segment: Segment;
}

/**
 * What this process owes to the database, on its own disk before anybody is told of it. Lines stay for ten minutes after
 * they reached Redis, so that a Redis that lost them can be given them again.
 */
export interface Journal {
  /** Writes what one turn of the event loop appends at once. Rejects when the disk does not take it. */
  append(text: string): Promise<JournalEntry>;
  acknowledge(entry: JournalEntry, place: RecordLocation | undefined): void;
  /** Entries of processes that died before they reached Redis. Each is acknowledged like an own one. */
  unacknowledged(): JournalEntry[];
  /** Everything that is kept, oldest first, in parts. */
  recent(): Iterable<readonly string[]>;
  /** The part of it that earlier processes wrote. */
  found(): Iterable<readonly string[]>;
  /** Shards whose bookings decide what `prune` may remove. */
  prunable(): ReadonlySet<number>;
  /** Removes what is old and booked, and the oldest where there is too much; what was found only if `mayGo`. */
  prune(isBooked: (place: RecordLocation) => boolean, found: { readonly mayGo: boolean }): void;
  readonly bytes: number;
  close(): void;
}

export interface JournalSettings {
  readonly dir: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly segmentBytes?: number;
  readonly segmentMs?: number;
  readonly keepMs?: number;
  readonly maxBytes?: number;
}

const SEGMENT_BYTES = 8 * 1024 * 1024;
const SEGMENT_MS = 60_000;
const KEEP_MS = 600_000;
const MAX_BYTES = 512 * 1024 * 1024;
const PART = 500;

interface Waiting {
  readonly text: string;
  readonly resolve: (entry: JournalEntry) => void;
  readonly reject: (error: unknown) => void;
}

/** Throws what the file system throws when the folder cannot be written. */
export function openJournal(settings: JournalSettings): Journal {
  return new FileJournal(settings);
}

class FileJournal implements Journal {
  readonly #settings: Required<JournalSettings>;
  readonly #own: OwnFolder;
  readonly #folders: readonly OwnFolder[];
  readonly #old: Segment[];
  readonly #found: readonly Segment[];
  #active: Segment;
  #lastNumber: number;
  #startedAt: number;
  #waiting: Waiting[] = [];

  constructor(settings: JournalSettings) {
    const defaults = { segmentBytes: SEGMENT_BYTES, segmentMs: SEGMENT_MS, keepMs: KEEP_MS, maxBytes: MAX_BYTES };
    this.#settings = { ...defaults, ...settings };
    this.#own = takeFolder(settings.dir);
    this.#folders = [this.#own, ...takeOrphans(settings.dir)];
    this.#found = this.#folders.flatMap(({ path }) => Segment.found(path));
    this.#old = [...this.#found];
    this.#lastNumber = Math.max(0, ...this.#old.map(({ number }) => number));
    this.#startedAt = settings.clock.now();
    this.#active = this.#create();
  }

  append(text: string): Promise<JournalEntry> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(() => this.#write());
      this.#waiting.push({ text, resolve, reject });
    });
  }

  #write(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    try {
      this.#rotate();
      const segment = this.#active;
      segment.append(`${waiting.map(({ text }) => text).join("\n")}\n`, this.#settings.clock.now());
      segment.unacknowledged += waiting.length;
      for (const { text, resolve } of waiting) resolve({ text, segment });
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }

  #rotate(): void {
    const { segmentBytes, segmentMs, clock } = this.#settings;
    const now = clock.now();
    const isOld = this.#active.bytes > 0 && now - this.#startedAt >= segmentMs;
    if (this.#active.bytes < segmentBytes && !isOld) return;
    const next = this.#create();
    this.#active.close();
    this.#old.push(this.#active);
    this.#active = next;
    this.#startedAt = now;
  }

  #create(): Segment {
    const { clock, log } = this.#settings;
    const onSyncError = (error: unknown) => log.error("the journal could not be flushed to the disk", { error });
    const segment = Segment.create(this.#own.path, this.#lastNumber + 1, { now: clock.now(), onSyncError });
    this.#lastNumber = segment.number;
    return segment;
  }

  acknowledge({ segment }: JournalEntry, place: RecordLocation | undefined): void {
    try {
      segment.acknowledge(place);
    } catch (error) {
      this.#settings.log.error("a journal file could not be closed, its entries will be sent again after a restart", {
        error,
      });
    }
  }

  unacknowledged(): JournalEntry[] {
    return [...this.#old].flatMap((segment) => {
      if (segment.isDone) return [];
      const lines = segment.lines();
      segment.unacknowledged = lines.length;
      if (lines.length === 0) this.#remove(segment);
      return lines.map((text) => ({ text, segment }));
    });
  }

  recent(): Iterable<readonly string[]> {
    return partsOf([...this.#old, this.#active]);
  }

  found(): Iterable<readonly string[]> {
    return partsOf(this.#found.filter((segment) => this.#old.includes(segment)));
  }

  prunable(): ReadonlySet<number> {
    this.#rotate();
    return new Set(this.#expired().flatMap((segment) => [...segment.places.keys()]));
  }

  #expired(): Segment[] {
    const before = this.#settings.clock.now() - this.#settings.keepMs;
    return this.#old.filter((segment) => segment.isDone && segment.lastAt < before);
  }

  prune(isBooked: (place: RecordLocation) => boolean, { mayGo }: { readonly mayGo: boolean }): void {
    const isKept = (segment: Segment) => !mayGo && this.#found.includes(segment);
    for (const segment of this.#expired()) {
      const isDue = [...segment.places].every(([shard, id]) => isBooked({ shard, id }));
      if (isDue && !isKept(segment)) this.#remove(segment);
    }
    for (const segment of this.#old.filter((old) => old.isDone && !isKept(old))) {
      if (this.bytes <= this.#settings.maxBytes) return;
      this.#remove(segment);
    }
  }

  #remove(segment: Segment): void {
    segment.remove();
    this.#old.splice(this.#old.indexOf(segment), 1);
  }

  get bytes(): number {
    return this.#old.reduce((sum, segment) => sum + segment.bytes, this.#active.bytes);
  }

  close(): void {
    this.#active.close();
    for (const folder of this.#folders) folder.release();
  }
}

function* partsOf(segments: readonly Segment[]): Iterable<readonly string[]> {
  for (const segment of segments) {
    const lines = segment.lines();
    for (let from = 0; from < lines.length; from += PART) yield lines.slice(from, from + PART);
  }
}
