type Envelope = Readonly<Record<string, unknown>>;

/** Lists that some compatible gateways answer as a page around the rows. */
const PAGED = /^\/api\/(channel|token|user|redemption)\/(search)?$/;
const TOKENS = /^\/api\/token\/(search|\d+)?$/;
const LOGS = /^\/api\/log\/(self)?$/;

/** An answer of a compatible gateway in the shape of Fairway's; the same object where it has that shape. */
export function asOurs(url: string, envelope: Envelope): Envelope {
  const { pathname } = new URL(url);
  const path = pathname.slice(pathname.indexOf("/api/"));
  const { data } = envelope;
  if (PAGED.test(path) && isPage(data)) return asOurs(url, { ...envelope, data: data.items, total: data.total });
  if (TOKENS.test(path) && ![data].flat().every(isToken))
    return { ...envelope, data: Array.isArray(data) ? data.map(asToken) : asToken(data) };
  if (!LOGS.test(path)) return envelope;
  if (Array.isArray(data)) return { ...envelope, data: { items: data, total: data.length, page: 1, next: "" } };
  return isPage(data) && !("next" in data) ? { ...envelope, data: { ...data, next: "" } } : envelope;
}

function isToken(row: unknown): boolean {
  return typeof row === "object" && row !== null && "allow_ips" in row;
}

/** Keys of a gateway that knows fewer limits, or other names for them. */
function asToken(row: unknown): unknown {
  if (typeof row !== "object" || row === null || isToken(row)) return row;
  const { models, subnet } = { models: "", subnet: "", ...row };
  const limits = { model_limits_enabled: models !== "" && models !== null, model_limits: models ?? "" };
  return { group: "", limits: {}, ...limits, allow_ips: subnet ?? "", ...row };
}

interface Page {
  readonly items: readonly unknown[];
  readonly total: unknown;
}

function isPage(data: unknown): data is Page {
  return typeof data === "object" && data !== null && "items" in data && Array.isArray(data.items);
}
