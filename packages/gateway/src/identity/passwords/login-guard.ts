import { countedAddress } from "../../lib/net/ip.ts";
import type { Limiter, Rule } from "../../limits/limiter.ts";

const WINDOW_MS = 900_000;
/** Wrong guesses from one source at one account within a quarter of an hour. */
const FAILURES: Rule = { name: "login-failures", limit: 10, windowMs: WINDOW_MS, onOutage: "deny" };
/** Wrong guesses from all unknown devices together at one account. */
const STRANGERS: Rule = { name: "login-strangers", limit: 50, windowMs: WINDOW_MS, onOutage: "deny" };
/** Set by the last failure: while it is full, further guesses are refused. */
const LOCK: Rule = { name: "login-lock", limit: 1, windowMs: WINDOW_MS, onOutage: "deny" };

/** One guess at the secret of an account. */
export interface Attempt {
  /** User id, or the typed name if no such account exists: both look the same from outside. */
  readonly account: string;
  readonly address: string;
  /** A device that has signed in to this account before; strangers cannot use up its guesses. */
  readonly device: string | undefined;
}

/**
 * Slows the guessing of secrets. An address with wrong guesses is refused, and so are all unknown devices if many
 * addresses guess together. A device that has signed in before has its own count, so its owner can still sign in.
 */
export interface LoginGuard {
  /**
   * Runs the guesses of one source one after the other, so that concurrent guesses do not all pass before the first one
   * has failed. Other replicas have separate queues.
   */
  inTurn<T>(attempt: Attempt, guess: () => Promise<T>): Promise<T>;
  /** True while guesses are refused, even with the right secret. */
  isLocked(attempt: Attempt): Promise<boolean>;
  failed(attempt: Attempt): Promise<void>;
  succeeded(attempt: Attempt): Promise<void>;
}

/**
 * Returns the attempt for codes of the second factor. They follow a password or a session, so they have one count for
 * the whole account.
 */
export function codeAttempt(userId: number): Attempt {
  return { account: `code:${userId}`, address: "", device: "any" };
}

export function createLoginGuard(limiter: Limiter): LoginGuard {
  const turns = new Map<string, Promise<unknown>>();
  return {
    inTurn(attempt, guess) {
      const source = buildSourceKey(attempt);
      const turn = (turns.get(source) ?? Promise.resolve()).then(guess, guess);
      turns.set(source, turn);
      const leave = () => {
        if (turns.get(source) === turn) turns.delete(source);
      };
      turn.then(leave, leave);
      return turn;
    },
    async isLocked(attempt) {
      if (!(await limiter.peek(LOCK, buildSourceKey(attempt))).admitted) return true;
      return attempt.device === undefined && !(await limiter.peek(LOCK, buildStrangersKey(attempt))).admitted;
    },
    async failed(attempt) {
      await count(limiter, FAILURES, buildSourceKey(attempt));
      if (attempt.device === undefined) await count(limiter, STRANGERS, buildStrangersKey(attempt));
    },
    async succeeded(attempt) {
      await limiter.clear(FAILURES, buildSourceKey(attempt));
    },
  };
}

async function count(limiter: Limiter, rule: Rule, subject: string): Promise<void> {
  const { remaining } = await limiter.take(rule, subject);
  if (remaining > 0) return;
  await limiter.take(LOCK, subject);
  await limiter.clear(rule, subject);
}

function buildSourceKey({ account, address, device }: Attempt): string {
  return device === undefined ? `${account} from ${countedAddress(address)}` : `${account} on ${device}`;
}

function buildStrangersKey({ account }: Attempt): string {
  return `${account} from anywhere`;
}
