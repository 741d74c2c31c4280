import type { Clock } from "../../lib/clock.ts";

/** Whether an attempt shows that the upstream works. A refusal of the request itself is fine. */
export type AttemptHealth = "fine" | "failed" | "unknown";

/** The state of one upstream key with recent failures. */
export interface BreakerState {
  readonly channelId: number;
  readonly keyIndex: number;
  readonly state: "open" | "half-open" | "failing";
  /** Time of the clock at which a probe may be sent; 0 while the breaker is closed. */
  readonly until: number;
  readonly consecutiveFailures: number;
}

/** Skips upstream keys with consecutive failures for a while. Holds local state only: callers report what happens. */
export interface Breakers {
  /** Time of the clock until which the key is skipped; 0 = it may be used. */
  until(channelId: number, keyIndex: number): number;
  /**
   * Called when the key is about to be used; after an opening, this call is the probe, and others wait for its result.
   */
  markChosen(channelId: number, keyIndex: number): void;
  observe(channelId: number, keyIndex: number, health: AttemptHealth): void;
  /** Another replica has opened or closed the breaker; `forMs` 0 = closed. Not announced again. */
  applyRemote(channelId: number, keyIndex: number, forMs: number): void;
  /** Called when the keys of the channel have changed. */
  forget(channelId: number): void;
  states(): BreakerState[];
}

export interface BreakerSettings {
  readonly clock: Clock;
  /** Called when a breaker opens (`forMs` above 0) and when it closes (0). */
  readonly onChange?: (channelId: number, keyIndex: number, forMs: number) => void;
}

const CONSECUTIVE_FAILURES = 5;
/** It also opens if at least this many calls ran within the window and half of them failed. */
const CALLS_IN_WINDOW = 20;
const WINDOW_MS = 30_000;
const FIRST_OPEN_MS = 10_000;
const LONGEST_OPEN_MS = 300_000;
/** A probe without a result for this long does not block the next one. */
const PROBE_MS = 60_000;

interface Entry {
  readonly channelId: number;
  readonly keyIndex: number;
  consecutive: number;
  windowStart: number;
  calls: number;
  failures: number;
  /** Number of openings since the last success. */
  openings: number;
  /** 0 = closed. */
  openUntil: number;
  probeSince: number;
}

export function createBreakers(settings: BreakerSettings): Breakers {
  return new KeyBreakers(settings);
}

class KeyBreakers implements Breakers {
  /** Contains only keys with a failure since their last recovery. */
  readonly #entries = new Map<string, Entry>();
  readonly #clock: Clock;
  readonly #onChange: BreakerSettings["onChange"];

  constructor({ clock, onChange }: BreakerSettings) {
    this.#clock = clock;
    this.#onChange = onChange;
  }

  until(channelId: number, keyIndex: number): number {
    const entry = this.#find(channelId, keyIndex);
    if (!entry || entry.openUntil === 0) return 0;
    const now = this.#clock.now();
    if (entry.openUntil > now) return entry.openUntil;
    const isProbed = entry.probeSince > 0 && now - entry.probeSince < PROBE_MS;
    return isProbed ? entry.probeSince + PROBE_MS : 0;
  }

  markChosen(channelId: number, keyIndex: number): void {
    const entry = this.#find(channelId, keyIndex);
    const now = this.#clock.now();
    if (entry && entry.openUntil > 0 && entry.openUntil <= now) entry.probeSince = now;
  }

  observe(channelId: number, keyIndex: number, health: AttemptHealth): void {
    if (health === "failed") return this.#failed(channelId, keyIndex);
    const entry = this.#find(channelId, keyIndex);
    if (!entry) return;
    if (health === "unknown") entry.probeSince = 0;
    else this.#fine(entry);
  }

  applyRemote(channelId: number, keyIndex: number, forMs: number): void {
    if (forMs === 0) return void this.#entries.delete(buildEntryKey(channelId, keyIndex));
    const entry = this.#make(channelId, keyIndex);
    const boundMs = Math.min(forMs, LONGEST_OPEN_MS);
    entry.openUntil = Math.max(entry.openUntil, this.#clock.now() + boundMs);
    entry.probeSince = 0;
    // If several replicas open at the same time, only the longest opening counts.
    entry.openings = Math.max(entry.openings, countOpenings(boundMs));
  }

  forget(channelId: number): void {
    for (const [name, entry] of this.#entries) if (entry.channelId === channelId) this.#entries.delete(name);
  }

  states(): BreakerState[] {
    return [...this.#entries.values()].map((entry) => toState(entry, this.#clock.now()));
  }

  #find(channelId: number, keyIndex: number): Entry | undefined {
    return this.#entries.size === 0 ? undefined : this.#entries.get(buildEntryKey(channelId, keyIndex));
  }

  #make(channelId: number, keyIndex: number): Entry {
    const known = this.#find(channelId, keyIndex);
    if (known) return known;
    const counts = { consecutive: 0, calls: 0, failures: 0, openings: 0 };
    const entry = { channelId, keyIndex, ...counts, windowStart: this.#clock.now(), openUntil: 0, probeSince: 0 };
    this.#entries.set(buildEntryKey(channelId, keyIndex), entry);
    return entry;
  }

  #open(entry: Entry, forMs: number): void {
    entry.openUntil = this.#clock.now() + forMs;
    entry.probeSince = 0;
    entry.openings += 1;
  }

  #failed(channelId: number, keyIndex: number): void {
    const entry = this.#make(channelId, keyIndex);
    const now = this.#clock.now();
    count(entry, now, true);
    // A call that was sent before the opening and fails after it is not a probe.
    const isProbe = entry.openUntil > 0 && entry.openUntil <= now && entry.probeSince > 0;
    if (!isProbe && (entry.openUntil > 0 || !isBroken(entry))) return;
    const forMs = Math.min(LONGEST_OPEN_MS, FIRST_OPEN_MS * 2 ** entry.openings);
    this.#open(entry, forMs);
    this.#onChange?.(channelId, keyIndex, forMs);
  }

  #fine(entry: Entry): void {
    const { channelId, keyIndex } = entry;
    if (entry.openUntil === 0) {
      count(entry, this.#clock.now(), false);
      if (entry.failures > 0) return;
    }
    this.#entries.delete(buildEntryKey(channelId, keyIndex));
    if (entry.openUntil > 0) this.#onChange?.(channelId, keyIndex, 0);
  }
}

/** Returns the number of consecutive openings that leads to this duration. */
function countOpenings(forMs: number): number {
  return 1 + Math.max(0, Math.ceil(Math.log2(forMs / FIRST_OPEN_MS)));
}

function buildEntryKey(channelId: number, keyIndex: number): string {
  return `${channelId} ${keyIndex}`;
}

function count(entry: Entry, now: number, isFailure: boolean): void {
  if (now - entry.windowStart >= WINDOW_MS || now < entry.windowStart) {
    entry.windowStart = now;
    entry.calls = 0;
    entry.failures = 0;
  }
  entry.calls += 1;
  entry.failures += isFailure ? 1 : 0;
  entry.consecutive = isFailure ? entry.consecutive + 1 : 0;
}

function isBroken({ consecutive, calls, failures }: Entry): boolean {
  return consecutive >= CONSECUTIVE_FAILURES || (calls >= CALLS_IN_WINDOW && failures * 2 >= calls);
}

function toState({ channelId, keyIndex, openUntil, consecutive }: Entry, now: number): BreakerState {
  const state = openUntil === 0 ? "failing" : openUntil > now ? "open" : "half-open";
  return { channelId, keyIndex, state, until: openUntil, consecutiveFailures: consecutive };
}
