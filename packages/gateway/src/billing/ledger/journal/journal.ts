import { createBatcher } from "../../../lib/async/batcher.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Logger } from "../../../observability/log.ts";
import { type OwnFolder, takeFolder, takeOrphans } from "./folder.ts";
import { createRunningSums, FoundSums, type RunningSums } from "./running-sums.ts";
import { type RecordLocation, Segment } from "./segment.ts";

/** One line in a file that Redis has not acknowledged yet. */
export interface JournalEntry {
  readonly text: string;
  readonly segment: Segment;
}

/**
 * Charges that this process owes to the database, written to its own disk before the client gets its answer. Lines stay
 * for ten minutes after they reached Redis, so that they can be replayed if Redis loses them.
 */
export interface Journal {
  /** Writes all appends of one event loop turn at once. Rejects when the write fails. */
  append(text: string): Promise<JournalEntry>;
  /** Writes entries that need no acknowledgement. Throws when the write fails. */
  record(texts: readonly string[]): void;
  acknowledge(entry: JournalEntry, place: RecordLocation | undefined): void;
  /** Returns entries of dead processes that have not reached Redis. Acknowledge them like any other entry. */
  unacknowledged(): JournalEntry[];
  /** Returns all lines in the journal, oldest first, in chunks. */
  recent(): Iterable<readonly string[]>;
  /** Returns the lines that earlier processes wrote, in chunks. */
  found(): Iterable<readonly string[]>;
  /** Returns the shards whose bookings decide what `prune` may remove. */
  prunable(): ReadonlySet<number>;
  /** Removes old booked files and, above the size limit, the oldest; files of earlier processes only if `mayRemove`. */
  prune(isBooked: (place: RecordLocation) => boolean, found: { readonly mayRemove: boolean }): void;
  readonly bytes: number;
  /** The sums of the open requests of this process. */
  readonly sums: RunningSums;
  /** The sums that earlier processes wrote. */
  readonly foundSums: FoundSums;
  close(): void;
}

export interface JournalSettings {
  readonly dir: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly segmentBytes?: number;
  readonly segmentMs?: number;
  readonly retentionMs?: number;
  readonly maxBytes?: number;
}

const SEGMENT_BYTES = 8 * 1024 * 1024;
const SEGMENT_MS = 60_000;
const RETENTION_MS = 600_000;
const MAX_BYTES = 512 * 1024 * 1024;
const PART = 500;

/** Throws a file system error when the folder is not writable. */
export function openJournal(settings: JournalSettings): Journal {
  return new FileJournal(settings);
}

class FileJournal implements Journal {
  readonly #settings: Required<JournalSettings>;
  readonly #own: OwnFolder;
  readonly #folders: readonly OwnFolder[];
  readonly #old: Segment[];
  readonly #found: readonly Segment[];
  readonly sums: RunningSums;
  readonly foundSums: FoundSums;
  #active: Segment;
  #lastNumber: number;
  #startedAt: number;
  readonly #appends = createBatcher<string, JournalEntry>({
    maxJobs: Infinity,
    startsAt: "turn",
    work: (texts) => this.#write(texts),
  });

  constructor(settings: JournalSettings) {
    const defaults = {
      segmentBytes: SEGMENT_BYTES,
      segmentMs: SEGMENT_MS,
      retentionMs: RETENTION_MS,
      maxBytes: MAX_BYTES,
    };
    this.#settings = { ...defaults, ...settings };
    this.#own = takeFolder(settings.dir);
    this.#folders = [this.#own, ...takeOrphans(settings.dir)];
    this.#found = this.#folders.flatMap(({ path }) => Segment.found(path));
    this.#old = [...this.#found];
    this.foundSums = new FoundSums(this.#folders.map(({ path }) => path));
    this.sums = createRunningSums({ folder: this.#own.path, log: settings.log });
    this.#lastNumber = Math.max(0, ...this.#old.map(({ number }) => number));
    this.#startedAt = settings.clock.now();
    this.#active = this.#create();
  }

  append(text: string): Promise<JournalEntry> {
    return this.#appends.add(text);
  }

  record(texts: readonly string[]): void {
    this.#rotate();
    this.#active.append(texts, this.#settings.clock.now());
  }

  async #write(texts: readonly string[]): Promise<JournalEntry[]> {
    this.record(texts);
    const segment = this.#active;
    segment.unacknowledged += texts.length;
    return texts.map((text) => ({ text, segment }));
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
    const onSyncError = (error: unknown) => log.error("the journal could not be flushed to disk", { error });
    const segment = Segment.create(this.#own.path, this.#lastNumber + 1, { now: clock.now(), onSyncError });
    this.#lastNumber = segment.number;
    return segment;
  }

  acknowledge({ segment }: JournalEntry, place: RecordLocation | undefined): void {
    try {
      segment.acknowledge(place);
    } catch (error) {
      this.#settings.log.error("a journal file could not be closed; its entries are sent again after a restart", {
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
    return splitSegments([...this.#old, this.#active]);
  }

  found(): Iterable<readonly string[]> {
    return splitSegments(this.#found.filter((segment) => this.#old.includes(segment)));
  }

  prunable(): ReadonlySet<number> {
    this.#rotate();
    return new Set(this.#expired().flatMap((segment) => [...segment.places.keys()]));
  }

  #expired(): Segment[] {
    const before = this.#settings.clock.now() - this.#settings.retentionMs;
    return this.#old.filter((segment) => segment.isDone && segment.lastAt < before);
  }

  prune(isBooked: (place: RecordLocation) => boolean, { mayRemove }: { readonly mayRemove: boolean }): void {
    const isProtected = (segment: Segment) => !mayRemove && this.#found.includes(segment);
    for (const segment of this.#expired()) {
      const isDue = [...segment.places].every(([shard, id]) => isBooked({ shard, id }));
      if (isDue && !isProtected(segment)) this.#remove(segment);
    }
    for (const segment of this.#old.filter((old) => old.isDone && !isProtected(old))) {
      if (this.bytes <= this.#settings.maxBytes) return;
      this.#remove(segment);
    }
  }

  #remove(segment: Segment): void {
    segment.remove();
    this.#old.splice(this.#old.indexOf(segment), 1);
  }

  get bytes(): number {
    return this.#old.reduce((sum, segment) => sum + segment.bytes, this.#active.bytes + this.sums.bytes);
  }

  close(): void {
    this.#active.close();
    this.sums.close();
    for (const folder of this.#folders) folder.release();
  }
}

function* splitSegments(segments: readonly Segment[]): Iterable<readonly string[]> {
  for (const segment of segments) {
    const lines = segment.lines();
    for (let from = 0; from < lines.length; from += PART) yield lines.slice(from, from + PART);
  }
}
