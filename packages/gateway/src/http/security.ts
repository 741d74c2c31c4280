import type { ServerResponse } from "node:http";

/** Sources in addition to the console's own that options may switch on. */
export interface ContentSources {
  readonly hasTurnstile: boolean;
  readonly hasTelegram: boolean;
}

const TURNSTILE = "https://challenges.cloudflare.com";
const TELEGRAM = "https://telegram.org";
/** Hash of the empty text: the styling library inserts empty style elements and fills them through the object model. */
const EMPTY_STYLE = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='";

/** Returns the policy of the console's page: no inline scripts, no inline styles, nothing framed by others. */
export function contentPolicy(sources: ContentSources): string {
  const scripts = ["'self'"];
  if (sources.hasTurnstile) scripts.push(TURNSTILE);
  if (sources.hasTelegram) scripts.push(TELEGRAM);
  return [
    "default-src 'self'",
    `script-src ${scripts.join(" ")}`,
    `style-src 'self' ${EMPTY_STYLE}`,
    "img-src 'self' data: https:",
    "font-src 'self'",
    "connect-src 'self'",
    "frame-src https:",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self' https:",
    "object-src 'none'",
  ].join("; ");
}

/** Sets the headers of every answer that a browser may show. */
export function setSecurityHeaders(response: ServerResponse, isSecure: boolean): void {
  response.setHeader("X-Content-Type-Options", "nosniff");
  response.setHeader("X-Frame-Options", "DENY");
  response.setHeader("Referrer-Policy", "strict-origin-when-cross-origin");
  response.setHeader("Cross-Origin-Opener-Policy", "same-origin-allow-popups");
  response.setHeader("Permissions-Policy", "camera=(), geolocation=(), microphone=()");
  if (isSecure) response.setHeader("Strict-Transport-Security", "max-age=31536000");
}
