type Envelope = Readonly<Record<string, unknown>>;

/** Lists that some compatible gateways return as a page object around the rows. */
const PAGED = /^\/api\/(channel|token|user|redemption)\/(search)?$/;
const TOKENS = /^\/api\/token\/(search|\d+)?$/;
const LOGS = /^\/api\/log\/(self)?$/;

/**
 * Converts the answer of a compatible gateway to Fairway's shape; returns the same object if it already has that shape.
 */
export function asOurs(url: string, envelope: Envelope): Envelope {
  const path = readApiPath(url);
  const data = PAGED.test(path) || LOGS.test(path) ? withItems(envelope["data"]) : envelope["data"];
  return atPath(path, data === envelope["data"] ? envelope : { ...envelope, data });
}

function readApiPath(url: string): string {
  const { pathname } = new URL(url);
  return pathname.slice(pathname.indexOf("/api/"));
}

function atPath(path: string, envelope: Envelope): Envelope {
  const { data } = envelope;
  if (PAGED.test(path) && isPage(data)) return atPath(path, { ...envelope, data: data.items, total: data.total });
  if (TOKENS.test(path) && ![data].flat().every(isToken))
    return { ...envelope, data: Array.isArray(data) ? data.map(asToken) : asToken(data) };
  if (!LOGS.test(path)) return envelope;
  if (Array.isArray(data)) return { ...envelope, data: { items: data, total: countBare(data), page: 1, next: "" } };
  return isPage(data) && !("next" in data) ? { ...envelope, data: { ...data, next: "" } } : envelope;
}

/** Bare rows have no count. Pages are of 10 rows or of what was asked for, so one that is not full is the last. */
function countBare({ length }: readonly unknown[]): number {
  return length > 0 && length % 10 === 0 ? Number.MAX_SAFE_INTEGER : length;
}

function isToken(row: unknown): boolean {
  return typeof row === "object" && row !== null && "allow_ips" in row;
}

/** Converts a key of a gateway that has fewer limits, or other names for them. */
function asToken(row: unknown): unknown {
  if (typeof row !== "object" || row === null || isToken(row)) return row;
  const { models, subnet } = { models: "", subnet: "", ...row };
  const limits = { model_limits_enabled: models !== "" && models !== null, model_limits: models ?? "" };
  return { group: "", limits: {}, fallbacks: "inherit", ...limits, allow_ips: subnet ?? "", ...row };
}

/** Converts a page object to rows in `data`, with Fairway's names. */
function withItems(data: unknown): unknown {
  if (typeof data !== "object" || data === null || !("data" in data) || !("total_count" in data)) return data;
  const { data: items, total_count: total, size, ...others } = { size: 0, ...data };
  return { items, total, page_size: size, ...others };
}

/** Returns whether an answer is such a page: its server names the page parameters differently. */
export function hasOtherPages(envelope: Envelope): boolean {
  return withItems(envelope["data"]) !== envelope["data"];
}

/** Converts the address of a page to the parameters of such a server, whose first page is 1. */
export function asTheirs(url: string): string {
  const asked = new URL(url);
  const { searchParams: query } = asked;
  const size = query.get("page_size");
  if (size === null) return url;
  const first = LOGS.test(readApiPath(url)) ? 0 : 1;
  query.set("page", String(Number(query.get("p") ?? 1 - first) + first));
  query.set("size", size);
  return asked.href;
}

interface Page {
  readonly items: readonly unknown[];
  readonly total: unknown;
}

function isPage(data: unknown): data is Page {
  return typeof data === "object" && data !== null && "items" in data && Array.isArray(data.items);
}
