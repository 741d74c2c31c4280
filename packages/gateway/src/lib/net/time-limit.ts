const CODES: ReadonlySet<unknown> = new Set(["UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"]);

/**
 * True if a time limit ended a call whose connection was open. A call has several limits, those of the HTTP client and
 * that of the caller's signal, which can be equally long: whichever ends first chooses the error.
 */
export function isTimeLimit(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === "TimeoutError" || ("code" in error && CODES.has(error.code));
}
