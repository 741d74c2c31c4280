import type { Clock } from "../lib/clock.ts";
import {
  CLAIM_LEASE_MS,
  claimName,
  CONCURRENCY_RETRY_MS,
  calculateCorrection,
  isConcurrency,
  partMs,
  resolveValue,
  VALUE_MS,
  WINDOW_PARTS,
  type Claim,
  type ClaimAnswer,
  type Claims,
  type ClaimState,
} from "./claims.ts";

/** Unused windows are dropped above this number, and then whenever the number has doubled. */
const SWEEP_AT = 10_000;

/** Limits of one process. A clock that never runs backwards prevents a window from lasting longer than it should. */
export function createMemoryClaims(clock: Clock): Claims {
  const windows = new Windows(clock);
  const leases = new Map<string, Leases>();
  const getLeases = (claim: Claim): Leases => {
    const name = claimName(claim);
    const known = leases.get(name) ?? new Leases();
    leases.set(name, known);
    return known;
  };
  const readClaimState = (claim: Claim, now: number, wanted: number): ClaimState => {
    if (isConcurrency(claim)) return { claim, used: getLeases(claim).count(now), resetMs: CONCURRENCY_RETRY_MS };
    const window = windows.of(claim);
    const used = window.total(now);
    return { claim, used, resetMs: window.resetMs(now, Math.max(1, used + wanted - claim.limit)) };
  };
  const values = new Values();
  const takeAll = (requestId: string, wanted: readonly Claim[]): ClaimAnswer => {
    const now = clock.now();
    const isOfMany = wanted.some(({ oneOf }) => oneOf !== undefined);
    const claims = isOfMany ? wanted.map((claim) => resolveValue(claim, values.isCountedAlone(claim, now))) : wanted;
    for (const claim of claims) {
      const state = readClaimState(claim, now, claim.amount);
      if (state.used + claim.amount > claim.limit) return { taken: false, state };
    }
    for (const claim of claims) {
      if (isConcurrency(claim)) getLeases(claim).take(requestId, now);
      else windows.of(claim).add(now, claim.amount, now);
    }
    return {
      taken: true,
      states: claims.map((claim) => readClaimState(claim, now, 0)),
      at: { ms: now },
      ...(isOfMany && { claims }),
    };
  };
  return {
    take: (requestId, claims) => Promise.resolve(takeAll(requestId, claims)),
    correct(claims, takenAt, used) {
      for (const claim of claims) {
        const difference = calculateCorrection(claim, used);
        if (difference !== 0) windows.of(claim).add(takenAt.ms, difference, clock.now());
      }
      return Promise.resolve();
    },
    renew(requestId, claims) {
      for (const claim of claims.filter(isConcurrency)) getLeases(claim).take(requestId, clock.now());
      return Promise.resolve();
    },
    release(requestId, claims) {
      for (const claim of claims.filter(isConcurrency)) {
        if (getLeases(claim).release(requestId) === 0) leases.delete(claimName(claim));
      }
      return Promise.resolve();
    },
  };
}

class Windows {
  readonly #known = new Map<string, Window>();
  readonly #clock: Clock;
  #sweepAt = SWEEP_AT;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  of(claim: Claim): Window {
    const name = claimName(claim);
    const known = this.#known.get(name);
    if (known) return known;
    if (this.#known.size >= this.#sweepAt) this.#sweep();
    const window = new Window(partMs(claim));
    this.#known.set(name, window);
    return window;
  }

  #sweep(): void {
    const now = this.#clock.now();
    for (const [name, window] of this.#known) if (window.total(now) === 0) this.#known.delete(name);
    this.#sweepAt = Math.max(SWEEP_AT, 2 * this.#known.size);
  }
}

/** The values that are counted one by one, by their lists and their last use. */
class Values {
  readonly #lists = new Map<string, Map<string, number>>();
  #sweepAt = SWEEP_AT;

  isCountedAlone({ scope, subject, oneOf }: Claim, now: number): boolean {
    if (!oneOf) return true;
    const name = `${scope}:${oneOf.list}`;
    const known = this.#lists.get(name) ?? this.#addList(name, now);
    dropUnused(known, now);
    if (!known.has(subject) && known.size >= oneOf.most) return false;
    // The last one used is the last one of the map.
    known.delete(subject);
    known.set(subject, now);
    return true;
  }

  #addList(name: string, now: number): Map<string, number> {
    if (this.#lists.size >= this.#sweepAt) {
      for (const [other, known] of this.#lists) {
        dropUnused(known, now);
        if (known.size === 0) this.#lists.delete(other);
      }
      this.#sweepAt = Math.max(SWEEP_AT, 2 * this.#lists.size);
    }
    const list = new Map<string, number>();
    this.#lists.set(name, list);
    return list;
  }
}

function dropUnused(values: Map<string, number>, now: number): void {
  for (const [value, usedAt] of values) {
    if (usedAt > now - VALUE_MS) return;
    values.delete(value);
  }
}

/** Amounts of the last window by its parts. */
class Window {
  readonly #parts = new Map<number, number>();
  readonly #partMs: number;
  #total = 0;

  constructor(ofMs: number) {
    this.#partMs = ofMs;
  }

  total(now: number): number {
    const first = Math.floor(now / this.#partMs) - WINDOW_PARTS;
    for (const [part, amount] of this.#parts) {
      if (part >= first) continue;
      this.#parts.delete(part);
      this.#total -= amount;
    }
    return this.#total;
  }

  /**
   * Adds an amount to its part of the window. Corrections of expired parts are ignored unless they raise the sum; no
   * part falls below zero.
   */
  add(time: number, amount: number, now: number): void {
    this.total(now);
    const part = Math.floor(time / this.#partMs);
    const current = Math.floor(now / this.#partMs);
    const isExpired = part < current - WINDOW_PARTS;
    if (isExpired && amount <= 0) return;
    const at = isExpired ? current : part;
    const before = this.#parts.get(at) ?? 0;
    const after = Math.max(0, before + amount);
    this.#parts.set(at, after);
    this.#total += after - before;
  }

  /** Returns the milliseconds until this amount has left the window. */
  resetMs(now: number, amount: number): number {
    const current = Math.floor(now / this.#partMs);
    let left = amount;
    for (let part = current - WINDOW_PARTS; part <= current; part += 1) {
      left -= this.#parts.get(part) ?? 0;
      if (left <= 0) return Math.max(0, (part + WINDOW_PARTS + 1) * this.#partMs - now);
    }
    return 0;
  }
}

/** Running requests, by the end of their lease. */
class Leases {
  readonly #until = new Map<string, number>();

  count(now: number): number {
    for (const [requestId, until] of this.#until) if (until <= now) this.#until.delete(requestId);
    return this.#until.size;
  }

  take(requestId: string, now: number): void {
    this.#until.set(requestId, now + CLAIM_LEASE_MS);
  }

  /** Returns how many leases remain. */
  release(requestId: string): number {
    this.#until.delete(requestId);
    return this.#until.size;
  }
}
