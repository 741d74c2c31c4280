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

/** Returns what helps against an error that stays until an operator acts; undefined for others. */
export function explainRefusal(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return CURES[String(error.code)];
}
