/** The log of changes of one object, such as `channel 7`, with the latest of them open. */
export function buildHistoryAddress(target: string): string {
  return `/audit?${new URLSearchParams({ target, range: "90d", row: "latest" })}`;
}
