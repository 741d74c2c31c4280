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

/** The meaning of each code. */
export const EXIT_MEANINGS: Readonly<Record<string, string>> = {
  "0": "done; `diff`: nothing differs",
  "1": "a failure that has no number of its own, or a question that was not agreed to; `diff`: something differs",
  "2": "wrong usage, a value that the gateway refuses, or a prompt without a terminal",
  "3": "what was named does not exist; `batch watch`: the batch did not complete",
  "4": "not signed in",
  "5": "a conflict: changed by someone else meanwhile, declared in documents, or already present",
  "6": "not allowed for this user",
  "7": "the gateway cannot be reached, is busy or failed; the same command may be run again",
  "8": "some of several failed; the output tells which",
  "130": "interrupted by Ctrl-C",
};

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

/** Everything has been printed; only the exit code remains, such as that of a `diff` that found something. */
export class Said extends CliError {
  constructor(code: number) {
    super("", code);
    this.name = "Said";
  }
}

/** A call that `--dry-run` printed instead of sending it. */
export class NotSent extends CliError {
  constructor() {
    super("the request was printed, not sent", EXIT.ok);
    this.name = "NotSent";
  }
}

/** What the gateway is, if it is not a Fairway of this version. */
type OtherGateway = "a compatible gateway" | "an older Fairway";

const CURES: Readonly<Record<OtherGateway, string>> = {
  "a compatible gateway": "it is a compatible gateway, and only Fairway has what this command needs",
  "an older Fairway": "the gateway may be older than this program: compare them with `fairway version`",
};

/** A call that the gateway does not have. */
export class MissingCall extends CliError {
  constructor(method: string, url: string, gateway: OtherGateway) {
    const { origin, pathname } = new URL(url);
    super(`${origin} has no call ${method} ${pathname}`, EXIT.failure, CURES[gateway]);
    this.name = "MissingCall";
  }
}

/** Returns the code of a system error, such as `ENOENT`, and the message of other errors. */
export function readErrorCode(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  return "code" in thrown ? String(thrown.code) : thrown.message;
}
