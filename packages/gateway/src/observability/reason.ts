/** Returns the reason of a failure, for one line. After tries of several addresses there is a code and no message. */
export function describeError(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const code = "code" in cause ? String(cause.code) : "";
  if (cause.message.startsWith(`${code}: `)) return cause.message;
  return [code, cause.message].filter((text) => text !== "").join(": ");
}
