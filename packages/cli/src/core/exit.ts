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

/** A call that `--dry-run` printed instead of sending it. */
export class NotSent extends CliError {
  constructor() {
    super("the request was printed, not sent", EXIT.ok);
    this.name = "NotSent";
  }
}

/** `ENOENT` and the like of a system error, its message for others. */
export function codeOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  return "code" in thrown ? String(thrown.code) : thrown.message;
}
