import type { Limiter, Rule } from "../../limits/limiter.ts";

const WINDOW_MS = 900_000;
/** Wrong passwords of one account within a quarter of an hour. */
const FAILURES: Rule = { name: "login-failures", limit: 10, windowMs: WINDOW_MS, onOutage: "deny" };
/** Taken by the tenth failure: while it is full the account's password login is shut. */
const LOCK: Rule = { name: "login-lock", limit: 1, windowMs: WINDOW_MS, onOutage: "deny" };

/** Slows the guessing of one account's password, whatever addresses the guesses come from. */
export interface LoginGuard {
  /**
   * Runs one guess at an account after the other, so that many at the same time do not all pass before the first one has
   * failed. Other replicas have turns of their own.
   */
  inTurn<T>(subject: string, guess: () => Promise<T>): Promise<T>;
  /** True while the account's password login is shut, also for the right password. */
  isLocked(subject: string): Promise<boolean>;
  failed(subject: string): Promise<void>;
  succeeded(subject: string): Promise<void>;
}

/** `subject` is the user id, or the typed name when no such account exists: both look the same from outside. */
export function createLoginGuard(limiter: Limiter): LoginGuard {
  const turns = new Map<string, Promise<unknown>>();
  return {
    inTurn(subject, guess) {
      const turn = (turns.get(subject) ?? Promise.resolve()).then(guess, guess);
      turns.set(subject, turn);
      const leave = () => {
        if (turns.get(subject) === turn) turns.delete(subject);
      };
      turn.then(leave, leave);
      return turn;
    },
    async isLocked(subject) {
      return !(await limiter.peek(LOCK, subject)).admitted;
    },
    async failed(subject) {
      const { remaining } = await limiter.take(FAILURES, subject);
      if (remaining > 0) return;
      await limiter.take(LOCK, subject);
      await limiter.clear(FAILURES, subject);
    },
    async succeeded(subject) {
      await limiter.clear(FAILURES, subject);
    },
  };
}
