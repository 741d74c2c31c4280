import type { Clock } from "../lib/clock.ts";
import {
  CLAIM_LEASE_MS,
  claimName,
  CONCURRENCY_RETRY_MS,
  correctionOf,
  isConcurrency,
  partMs,
  WINDOW_PARTS,
  type Claim,
  type ClaimAnswer,
  type Claims,
  type ClaimState,
} from "./claims.ts";

/** Windows that nobody asks for are dropped when so many are kept. */
const SWEEP_AT = 10_000;

/** Limits of one process. */
export function createMemoryClaims(clock: Clock): Claims {
  const windows = new Map<string, Window>();
  const leases = new Map<string, Leases>();
  const windowOf = (claim: Claim): Window => {
    const name = claimName(claim);
    const known = windows.get(name);
    if (known) return known;
    if (windows.size >= SWEEP_AT) sweep(windows, clock.now());
    const window = new Window(partMs(claim));
    windows.set(name, window);
    return window;
  };
  const leasesOf = (claim: Claim): Leases => {
    const name = claimName(claim);
    const known = leases.get(name) ?? new Leases();
    leases.set(name, known);
    return known;
  };
  const stateOf = (claim: Claim, now: number): ClaimState => {
    if (isConcurrency(claim)) return { claim, used: leasesOf(claim).count(now), resetMs: CONCURRENCY_RETRY_MS };
    const window = windowOf(claim);
    return { claim, used: window.total(now), resetMs: window.resetMs(now) };
  };
  const takeAll = (requestId: string, claims: readonly Claim[]): ClaimAnswer => {
    const now = clock.now();
    for (const claim of claims) {
      const state = stateOf(claim, now);
      if (state.used + claim.amount > claim.limit) return { taken: false, state };
    }
    for (const claim of claims) {
      if (isConcurrency(claim)) leasesOf(claim).take(requestId, now);
      else windowOf(claim).add(now, claim.amount, now);
    }
    return { taken: true, states: claims.map((claim) => stateOf(claim, now)), at: now };
  };
  return {
    take: (requestId, claims) => Promise.resolve(takeAll(requestId, claims)),
    correct(claims, takenAt, used) {
      for (const claim of claims) {
        const difference = correctionOf(claim, used);
        if (difference !== 0) windowOf(claim).add(takenAt, difference, clock.now());
      }
      return Promise.resolve();
    },
    renew(requestId, claims) {
      for (const claim of claims.filter(isConcurrency)) leasesOf(claim).renew(requestId, clock.now());
      return Promise.resolve();
    },
    release(requestId, claims) {
      for (const claim of claims.filter(isConcurrency)) {
        if (leasesOf(claim).release(requestId) === 0) leases.delete(claimName(claim));
      }
      return Promise.resolve();
    },
  };
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

  /** What belongs to a part that has left the window counts nowhere, unless it is more. */
  add(time: number, amount: number, now: number): void {
    this.total(now);
    const part = Math.floor(time / this.#partMs);
    const current = Math.floor(now / this.#partMs);
    const isGone = part < current - WINDOW_PARTS;
    if (isGone && amount <= 0) return;
    const at = isGone ? current : part;
    this.#parts.set(at, (this.#parts.get(at) ?? 0) + amount);
    this.#total += amount;
  }

  resetMs(now: number): number {
    for (const [part, amount] of this.#parts)
      if (amount > 0) return Math.max(0, (part + WINDOW_PARTS + 1) * this.#partMs - now);
    return 0;
  }
}

/** Requests that run, by the end of their lease. */
class Leases {
  readonly #until = new Map<string, number>();

  count(now: number): number {
    for (const [requestId, until] of this.#until) if (until <= now) this.#until.delete(requestId);
    return this.#until.size;
  }

  take(requestId: string, now: number): void {
    this.#until.set(requestId, now + CLAIM_LEASE_MS);
  }

  renew(requestId: string, now: number): void {
    if (this.#until.has(requestId)) this.take(requestId, now);
  }

  /** Answers how many are left. */
  release(requestId: string): number {
    this.#until.delete(requestId);
    return this.#until.size;
  }
}

function sweep(windows: Map<string, Window>, now: number): void {
  for (const [name, window] of windows) if (window.total(now) === 0) windows.delete(name);
}
