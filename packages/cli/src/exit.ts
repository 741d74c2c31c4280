import { ApiProblem } from "@fairway/wire";

/** Scripts rely on these numbers; `fairway --help` lists them. */
export const EXIT = {
  ok: 0,
  failure: 1,
  usage: 2,
  notFound: 3,
  notSignedIn: 4,
  conflict: 5,
  forbidden: 6,
  unreachable: 7,
  partial: 8,
  interrupted: 130,
} as const;

/** A failure that a person can act on; `hint` says how. */
export class CliError extends Error {
  readonly code: number;
  readonly hint: string | undefined;

  constructor(message: string, code: number = EXIT.failure, hint?: string) {
    super(message);
    this.name = "CliError";
    this.code = code;
    this.hint = hint;
  }
}

const BY_CODE: Readonly<Record<string, number>> = {
  L1: EXIT.notSignedIn,
  L3: EXIT.notSignedIn,
  L6: EXIT.notSignedIn,
  AU7: EXIT.forbidden,
  K5: EXIT.forbidden,
  G8: EXIT.conflict,
  CH8: EXIT.notFound,
  CH20: EXIT.conflict,
  K2: EXIT.notFound,
  U1: EXIT.notFound,
  P6: EXIT.notFound,
  G1: EXIT.usage,
  G2: EXIT.usage,
  P9: EXIT.usage,
};

/** What a thrown value means for the shell. */
export function exitCodeOf(thrown: unknown): number {
  if (thrown instanceof CliError) return thrown.code;
  if (!(thrown instanceof ApiProblem)) return EXIT.failure;
  if (thrown.code !== undefined && thrown.code in BY_CODE) return BY_CODE[thrown.code] ?? EXIT.failure;
  if (thrown.status === 0 || thrown.status === 429 || thrown.status >= 500) return EXIT.unreachable;
  if (thrown.status === 401) return EXIT.notSignedIn;
  return thrown.status === 404 ? EXIT.notFound : EXIT.failure;
}

/** `ENOENT` and the like of a system error, its message for others. */
export function codeOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  return "code" in thrown ? String(thrown.code) : thrown.message;
}

/** One sentence; a lost connection tells which server and why. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof ApiProblem && thrown.status === 0 && thrown.cause instanceof Error) return thrown.cause.message;
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The cure that goes with a failure, if one is known. */
export function hintOf(thrown: unknown): string | undefined {
  if (thrown instanceof CliError) return thrown.hint;
  if (!(thrown instanceof ApiProblem)) return undefined;
  if (thrown.status === 0) return "see that the server runs, or sign in to another one with `fairway login URL`";
  if (thrown.code === "AU5") return "correct FAIRWAY_USER_ID, or leave it out";
  if (thrown.code === "L1" || thrown.code === "T1")
    return "make an access token in the console and pipe it into `fairway login URL --token-stdin`";
  if (thrown.status === 401) return "sign in with `fairway login`";
  if (thrown.status === 429 && thrown.retryAfterSeconds !== undefined)
    return `try again in ${thrown.retryAfterSeconds} s`;
  return thrown.code === "AU7" ? "this command needs a user with a higher role" : undefined;
}
