import type { IncomingMessage, ServerResponse } from "node:http";

export interface CookieSettings {
  readonly maxAgeSeconds: number;
  /** True if the request came over TLS. */
  readonly isSecure: boolean;
}

/** Returns the value of the first cookie of that name; undefined if there is none. */
export function readCookie(request: IncomingMessage, name: string): string | undefined {
  for (const part of (request.headers.cookie ?? "").split(";")) {
    const mark = part.indexOf("=");
    if (mark > 0 && part.slice(0, mark).trim() === name) return part.slice(mark + 1).trim();
  }
  return undefined;
}

/**
 * Browsers accept this prefix only from the host itself over TLS: another site of the domain and plain http cannot set
 * it.
 */
const HOST_PREFIX = "__Host-";

/** Returns the name of a cookie on a site with or without TLS. */
export function hostCookie(name: string, isSecure: boolean): string {
  return isSecure ? `${HOST_PREFIX}${name}` : name;
}

/** Returns the value of the name for TLS, or else of the plain name. */
export function readHostCookie(request: IncomingMessage, name: string): string | undefined {
  return readCookie(request, `${HOST_PREFIX}${name}`) ?? readCookie(request, name);
}

/** Sets a cookie that scripts cannot read and that browsers send only from the console's own site. */
export function setCookie(response: ServerResponse, name: string, value: string, settings: CookieSettings): void {
  const parts = [`${name}=${value}`, "Path=/", `Max-Age=${settings.maxAgeSeconds}`, "HttpOnly", "SameSite=Strict"];
  if (settings.isSecure) parts.push("Secure");
  response.appendHeader("Set-Cookie", parts.join("; "));
}

export function clearCookie(response: ServerResponse, name: string, isSecure: boolean): void {
  setCookie(response, name, "", { maxAgeSeconds: 0, isSecure });
}
