import { randomUUID } from "node:crypto";
import type { Clock } from "../../lib/clock.ts";

/** Running requests by channel: exact for this process, and as other replicas last announced theirs. */
export interface ChannelLoads {
  running(channelId: number): number;
  /** Counts a request until the returned function is called; later calls of it change nothing. */
  begin(channelId: number): () => void;
  /** Takes the counts of another replica, which replace its earlier ones. */
  applyRemote(replica: string, counts: Readonly<Record<string, unknown>>): void;
}

interface LoadsSettings {
  readonly clock: Clock;
  /** Announces this process's counts to the other replicas; unset or without effect where there are none. */
  readonly announce: (replica: string, counts: Readonly<Record<string, number>>) => void;
}

const ANNOUNCE_MS = 1_000;
/** Unchanged counts are repeated, because other replicas forget what is not. */
const REPEAT_MS = 5_000;
const FORGET_MS = 15_000;
/** Bounds what unreadable or hostile messages can store. */
const MAX_REPLICAS = 256;
const MAX_CHANNELS = 10_000;

export function createChannelLoads(settings: LoadsSettings): ChannelLoads {
  return new Loads(settings);
}

interface RemoteCounts {
  readonly at: number;
  readonly counts: ReadonlyMap<number, number>;
}

class Loads implements ChannelLoads {
  readonly #clock: Clock;
  readonly #announce: LoadsSettings["announce"];
  readonly #replica = randomUUID();
  readonly #own = new Map<number, number>();
  readonly #remote = new Map<string, RemoteCounts>();
  #isTicking = false;
  #hasChanged = false;
  #announcedAt = 0;

  constructor({ clock, announce }: LoadsSettings) {
    this.#clock = clock;
    this.#announce = announce;
  }

  running(channelId: number): number {
    let sum = this.#own.get(channelId) ?? 0;
    if (this.#remote.size === 0) return sum;
    const oldest = this.#clock.now() - FORGET_MS;
    for (const [replica, { at, counts }] of this.#remote) {
      if (at < oldest) this.#remote.delete(replica);
      else sum += counts.get(channelId) ?? 0;
    }
    return sum;
  }

  begin(channelId: number): () => void {
    this.#add(channelId, 1);
    let isRunning = true;
    return () => {
      if (isRunning) this.#add(channelId, -1);
      isRunning = false;
    };
  }

  applyRemote(replica: string, counts: Readonly<Record<string, unknown>>): void {
    if (replica === this.#replica || (this.#remote.size >= MAX_REPLICAS && !this.#remote.has(replica))) return;
    const pairs = Object.entries(counts).slice(0, MAX_CHANNELS);
    const readable = pairs
      .map(([id, count]) => [Number(id), count] as const)
      .filter((pair): pair is readonly [number, number] => Number.isSafeInteger(pair[0]) && isPositive(pair[1]));
    this.#remote.set(replica, { at: this.#clock.now(), counts: new Map(readable) });
  }

  #add(channelId: number, change: number): void {
    const count = (this.#own.get(channelId) ?? 0) + change;
    if (count > 0) this.#own.set(channelId, count);
    else this.#own.delete(channelId);
    this.#hasChanged = true;
    if (!this.#isTicking) this.#tickLater();
  }

  #tickLater(): void {
    this.#isTicking = true;
    setTimeout(() => this.#tick(), ANNOUNCE_MS).unref();
  }

  /** Runs every second while requests run, and once more to announce that none is left. */
  #tick(): void {
    const now = this.#clock.now();
    if (this.#hasChanged || now - this.#announcedAt >= REPEAT_MS) {
      this.#hasChanged = false;
      this.#announcedAt = now;
      this.#announce(this.#replica, Object.fromEntries(this.#own));
    }
    this.#isTicking = false;
    if (this.#own.size > 0) this.#tickLater();
  }
}

function isPositive(value: unknown): boolean {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0;
}
