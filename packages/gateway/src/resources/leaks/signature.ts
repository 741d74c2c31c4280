import { createHmac, timingSafeEqual, verify } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** Maximum difference in time; older and newer reports are refused, so a copied report is soon worthless. */
const TOLERANCE_SECONDS = 300;
const SECRET_PREFIX = "whsec_";

/**
 * Returns true if the headers `webhook-id`, `webhook-timestamp` and `webhook-signature` of Standard Webhooks sign this
 * body with the secret, at about `now` (epoch seconds). While a secret is being rotated, there are several signatures.
 */
export function isSignedByScanner(headers: IncomingHttpHeaders, body: string, secret: string, now: number): boolean {
  const [id, time, signatures] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) =>
    readHeader(headers, name),
  ) as [string, string, string];
  if (id === "" || !/^\d{1,12}$/.test(time) || Math.abs(now - Number(time)) > TOLERANCE_SECONDS) return false;
  const expected = createHmac("sha256", readSecret(secret)).update(`${id}.${time}.${body}`).digest();
  return signatures.split(" ").some((signature) => {
    const given = signature.startsWith("v1,") ? Buffer.from(signature.slice(3), "base64") : Buffer.alloc(0);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

/** Secrets of Standard Webhooks are base64 behind a prefix; any other text is taken as it is. */
function readSecret(secret: string): Buffer {
  return secret.startsWith(SECRET_PREFIX)
    ? Buffer.from(secret.slice(SECRET_PREFIX.length), "base64")
    : Buffer.from(secret);
}

/** Returns true if the ECDSA signature (base64 of DER) of SHA-256 over the body fits the public key (PEM). */
export function isSignedWith(publicKey: string, body: string, signature: string): boolean {
  try {
    return verify("sha256", Buffer.from(body), publicKey, Buffer.from(signature, "base64"));
  } catch {
    return false;
  }
}

export function readHeader(headers: IncomingHttpHeaders, name: string): string {
  const value = headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? "";
}
