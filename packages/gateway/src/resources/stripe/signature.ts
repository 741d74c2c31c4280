import { createHmac, timingSafeEqual } from "node:crypto";

/** Older and newer events are refused: a copied one is worth nothing later. */
const TOLERANCE_SECONDS = 300;

/**
 * True when the header (`t=...,v1=...`) signs exactly this body with the secret, at about `now` (epoch seconds).
 * While a secret is being changed the provider sends several signatures.
 */
export function isSignedEvent(header: string, body: string, secret: string, now: number): boolean {
  const parts = header.split(",").map((part) => part.trim().split("=", 2));
  const times = parts.filter(([name]) => name === "t").map(([, value = ""]) => value);
  const [time = ""] = times;
  if (times.length !== 1 || !/^\d{1,12}$/.test(time) || Math.abs(now - Number(time)) > TOLERANCE_SECONDS) return false;
  const expected = Buffer.from(signEvent(time, body, secret));
  return parts.some(([name, value = ""]) => {
    const given = Buffer.from(value.toLowerCase());
    return name === "v1" && given.length === expected.length && timingSafeEqual(given, expected);
  });
}

/** HMAC-SHA-256, hex, of `time.body`. */
export function signEvent(time: string, body: string, secret: string): string {
  return createHmac("sha256", secret).update(`${time}.${body}`).digest("hex");
}
