/** What an operator does about a refusal, by the code of the server. */
const CURES: Readonly<Record<string, string>> = {
  81: "make the database and let the account use it",
  164: "let the account write",
  192: "the server refuses the user name or password: give the account that one",
  193: "the server refuses the user name or password: give the account that one",
  194: "the server refuses the user name or password: give the account that one",
  497: "let the account create, read, change and drop tables there",
  516: "the server refuses the user name or password: give the account that one",
};

/**
 * Codes of a server that answers but cannot serve the log: no table yet, no time, too many statements, shutting down, no
 * network between its parts, no Keeper, no replica.
 */
const AWAY: ReadonlySet<string> = new Set("60 159 202 203 209 210 225 236 279 285 369 394 439 999".split(" "));

/** Returns what helps against an error that stays until an operator acts; undefined for others. */
export function explainRefusal(error: unknown): string | undefined {
  const code = readCode(error);
  return code === undefined ? undefined : CURES[code];
}

/** True if ClickHouse, or what is between, failed whatever the statement was. Only the server numbers its errors. */
export function isLogAway(error: unknown): boolean {
  const code = readCode(error);
  if (code === undefined || !/^\d+$/.test(code)) return error instanceof Error;
  return AWAY.has(code) || code in CURES;
}

function readCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error ? String(error.code) : undefined;
}
