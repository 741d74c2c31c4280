import type { Clock } from "../lib/clock.ts";
import type { Admission, Limiter, Rule } from "./limiter.ts";

/** Most subjects of each rule; the one that was not checked for longest is dropped first. */
const MAX_SUBJECTS = 100_000;
const MAX_TIMES = 2_000_000;

export interface MemoryLimits {
  readonly maxSubjects?: number;
  readonly maxTimes?: number;
}

/** Limits of one process: the times of accepted requests, per rule and subject. */
export function createMemoryLimiter(
  clock: Clock,
  { maxSubjects = MAX_SUBJECTS, maxTimes = MAX_TIMES }: MemoryLimits = {},
): Limiter {
  // One store per rule: a flood against one cannot wash out the counts of another.
  const stores = new Map<string, Store>();
  const getStore = (rule: Rule): Store => {
    const known = stores.get(rule.name);
    if (known) return known;
    const store = new Store(maxSubjects, maxTimes);
    stores.set(rule.name, store);
    return store;
  };
  return {
    // No await between the check and the count, so concurrent requests cannot exceed the limit.
    take: (rule, subject) => Promise.resolve(getStore(rule).take(rule, subject, clock.now())),
    peek: (rule, subject) => Promise.resolve(getStore(rule).peek(rule, subject, clock.now())),
    clear(rule, subject) {
      getStore(rule).clear(subject);
      return Promise.resolve();
    },
  };
}

class Store {
  /** Accepted requests by subject, ascending; subjects in the order in which they were last counted. */
  readonly #subjects = new Map<string, number[]>();
  readonly #maxSubjects: number;
  readonly #maxTimes: number;
  #times = 0;

  constructor(maxSubjects: number, maxTimes: number) {
    this.#maxSubjects = maxSubjects;
    this.#maxTimes = maxTimes;
  }

  take(rule: Rule, subject: string, now: number): Admission {
    this.#forgetIdle(rule, now);
    const times = this.#current(rule, subject, now);
    if (times.length >= rule.limit) return admission(rule, times, now, false);
    times.push(now);
    this.#times += 1;
    this.#subjects.delete(subject);
    this.#subjects.set(subject, times);
    while (this.#subjects.size > this.#maxSubjects || this.#times > this.#maxTimes) this.#forgetOldest();
    return admission(rule, times, now, true);
  }

  peek(rule: Rule, subject: string, now: number): Admission {
    const times = this.#current(rule, subject, now);
    return admission(rule, times, now, times.length < rule.limit);
  }

  clear(subject: string): void {
    this.#times -= this.#subjects.get(subject)?.length ?? 0;
    this.#subjects.delete(subject);
  }

  /** Returns the subject's times within the window. */
  #current(rule: Rule, subject: string, now: number): number[] {
    const times = this.#subjects.get(subject);
    if (!times) return [];
    const from = now - rule.windowMs;
    let gone = 0;
    while (gone < times.length && (times[gone] ?? 0) <= from) gone += 1;
    if (gone > 0) {
      times.splice(0, gone);
      this.#times -= gone;
    }
    return times;
  }

  /** Forgets up to two of the longest idle subjects per call: more than are added, so that idle ones do not pile up. */
  #forgetIdle(rule: Rule, now: number): void {
    let checked = 0;
    for (const [subject, times] of this.#subjects) {
      if ((times.at(-1) ?? 0) > now - rule.windowMs || checked === 2) return;
      this.clear(subject);
      checked += 1;
    }
  }

  #forgetOldest(): void {
    const oldest = this.#subjects.keys().next();
    if (!oldest.done) this.clear(oldest.value);
  }
}

function admission(rule: Rule, times: readonly number[], now: number, admitted: boolean): Admission {
  const [oldest] = times;
  return {
    admitted,
    limit: rule.limit,
    remaining: Math.max(0, rule.limit - times.length),
    resetMs: oldest === undefined ? 0 : Math.max(0, oldest + rule.windowMs - now),
  };
}
