import { ApiProblem, type MessageCode } from "@fairway/wire";
import { CliError, EXIT } from "./exit.ts";

const BY_CODE: Readonly<Record<string, number>> = {
  L1: EXIT.notSignedIn,
  L3: EXIT.notSignedIn,
  L6: EXIT.notSignedIn,
  AU7: EXIT.forbidden,
  ...all(["K5", "U2", "U3", "U4", "U5", "U6", "U7", "U8", "U10", "U14"], EXIT.forbidden),
  ...all(["G8", "CH11", "CH18", "CH20", "D5", "M1", "M3", "R7", "U9", "U11"], EXIT.conflict),
  ...all(["CH8", "D4", "H3", "J1", "K2", "P6", "U1", "U13"], EXIT.notFound),
  ...all(["G1", "G2", "CH2", "CH3", "CH4", "CH5", "CH6", "CH7", "CH15", "D1", "D2", "D3", "D10", "H2"], EXIT.usage),
  ...all(["K1", "K6", "M2", "P7", "P8", "P9", "P12", "R3", "R9", "R10", "U15", "U16"], EXIT.usage),
};

function all(codes: readonly MessageCode[], exit: number): Record<string, number> {
  return Object.fromEntries(codes.map((code) => [code, exit]));
}

/** What a thrown value means for the shell. */
export function exitCodeOf(thrown: unknown): number {
  if (thrown instanceof CliError) return thrown.code;
  if (!(thrown instanceof ApiProblem)) return EXIT.failure;
  if (thrown.code !== undefined && thrown.code in BY_CODE) return BY_CODE[thrown.code] ?? EXIT.failure;
  if (thrown.status === 0 || thrown.status === 429 || thrown.status >= 500) return EXIT.unreachable;
  if (thrown.status === 401) return EXIT.notSignedIn;
  return thrown.status === 404 ? EXIT.notFound : EXIT.failure;
}

/** One sentence; a lost connection tells which server and why. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof ApiProblem && thrown.status === 0 && thrown.cause instanceof Error) return thrown.cause.message;
  return thrown instanceof Error ? thrown.message : String(thrown);
}

const CURE_BY_CODE: Readonly<Partial<Record<MessageCode, string>>> = {
  AU5: "correct FAIRWAY_USER_ID, or leave it out",
  AU7: "this command needs a user with a higher role",
  CH20: "it was changed meanwhile: read it again and repeat the command",
  G8: "it was changed meanwhile: read it again and repeat the command",
  L1: "make an access token in the console and pipe it into `fairway login URL --token-stdin`",
  M1: "change its document and run `fairway apply -f FILE`",
  M3: "add --force if that is meant",
  T1: "make an access token in the console and pipe it into `fairway login URL --token-stdin`",
};

/** The cure that goes with a failure, if one is known. */
export function hintOf(thrown: unknown): string | undefined {
  if (thrown instanceof CliError) return thrown.hint;
  if (!(thrown instanceof ApiProblem)) return undefined;
  if (thrown.status === 0) return "see that the server runs, or sign in to another one with `fairway login URL`";
  const cure = thrown.code && CURE_BY_CODE[thrown.code];
  if (cure !== undefined) return cure;
  if (thrown.status === 401) return "sign in with `fairway login`";
  return thrown.status === 429 && thrown.retryAfterSeconds !== undefined
    ? `try again in ${thrown.retryAfterSeconds} s`
    : undefined;
}
