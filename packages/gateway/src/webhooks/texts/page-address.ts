/** Beginning of a type -> the page of the console that shows its subject. */
export const PAGES: Readonly<Record<string, string>> = {
  channel: "/channel",
  balance: "/topup",
  payment: "/topup",
  redemption: "/topup",
  budget: "/budget",
  token: "/token",
  batch: "/log",
  task: "/task",
  report: "/report",
  user: "/user",
};
const OVERVIEW = "/";

/** Returns the page where a person reads on: that of the subject of all events, or the overview. */
export function findPageAddress(types: readonly string[], serverAddress: string): string {
  const pages = new Set(types.map((type) => PAGES[type.split(".")[0] ?? ""] ?? OVERVIEW));
  const [page = OVERVIEW] = pages;
  return `${serverAddress}${pages.size === 1 ? page : OVERVIEW}`;
}
