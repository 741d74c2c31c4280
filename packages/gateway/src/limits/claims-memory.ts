import type { Clock } from "../lib/clock.ts";
import {
  CLAIM_LEASE_MS,
  claimName,
  CONCURRENCY_RETRY_MS,
  isConcurrency,
  isTokens,
  WINDOW_SECONDS,
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
    const window = new Window();
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
      else windowOf(claim).add(Math.floor(now / 1000), claim.amount, now);
    }
    return { taken: true, states: claims.map((claim) => stateOf(claim, now)), at: now };
  };
  return {
    take: (requestId, claims) => Promise.resolve(takeAll(requestId, claims)),
    correct(claims, takenAt, tokens) {
      for (const claim of claims.filter(isTokens))
        windowOf(claim).add(Math.floor(takenAt / 1000), tokens - claim.amount, clock.now());
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

/** Amounts of the last minute by the second. */
class Window {
  readonly #seconds = new Map<number, number>();
  #total = 0;

  total(now: number): number {
    const first = Math.floor(now / 1000) - WINDOW_SECONDS;
    for (const [second, amount] of this.#seconds) {
      if (second >= first) continue;
      this.#seconds.delete(second);
      this.#total -= amount;
    }
    return this.#total;
  }

  /** What belongs to a second that has left the window counts nowhere, unless it is more. */
  add(second: number, amount: number, now: number): void {
    this.total(now);
    const current = Math.floor(now / 1000);
    const isGone = second < current - WINDOW_SECONDS;
    if (isGone && amount <= 0) return;
    const at = isGone ? current : second;
    this.#seconds.set(at, (this.#seconds.get(at) ?? 0) + amount);
    this.#total += amount;
  }

  resetMs(now: number): number {
    for (const [second, amount] of this.#seconds)
      if (amount > 0) return Math.max(0, (second + WINDOW_SECONDS + 1) * 1000 - now);
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
