import type { IncomingMessage } from "node:http";

/** The site of passkeys: the page that uses them must be on the host that this server answers for. */
export interface RelyingParty {
  /** Host name. */
  readonly id: string;
  /** Scheme, host and port, as browsers name them. */
  readonly origin: string;
}

/**
 * Returns the page's own origin if it is this server's public address or the host that the request was sent to;
 * undefined for every other page.
 */
export function findRelyingParty(
  request: IncomingMessage,
  isSecure: boolean,
  serverAddress: string,
): RelyingParty | undefined {
  const { host = "", origin = `${isSecure ? "https" : "http"}://${host}` } = request.headers;
  const page = URL.canParse(origin) ? new URL(origin) : undefined;
  if (!page || (page.protocol !== "https:" && page.protocol !== "http:")) return undefined;
  const isOwn = page.host === host || (URL.canParse(serverAddress) && page.origin === new URL(serverAddress).origin);
  return isOwn ? { id: page.hostname, origin: page.origin } : undefined;
}
