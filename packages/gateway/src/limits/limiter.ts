/** A sliding window: at most `limit` accepted requests in any `windowMs`. */
export interface Rule {
  readonly name: string;
  readonly limit: number;
  readonly windowMs: number;
  /** Behavior while the shared count cannot be reached; `allow` (default) counts in this process only. */
  readonly onOutage?: "deny" | "allow";
}

export interface Admission {
  readonly admitted: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Milliseconds until the oldest counted request leaves the window. */
  readonly resetMs: number;
}

/**
 * Counts requests per rule and subject. A refused request is not recorded. `limiter-memory.ts` is for one process,
 * `limiter-redis.ts` for many; one contract suite covers both.
 */
export interface Limiter {
  take(rule: Rule, subject: string): Promise<Admission>;
  /** Checks without counting. */
  peek(rule: Rule, subject: string): Promise<Admission>;
  /** Forgets a subject (a successful sign-in). */
  clear(rule: Rule, subject: string): Promise<void>;
}
