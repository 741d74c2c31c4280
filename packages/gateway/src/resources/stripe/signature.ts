import { createHmac, timingSafeEqual } from "node:crypto";

/** Maximum difference in time; older and newer events are refused, so a copied event is soon worthless. */
const TOLERANCE_SECONDS = 300;

/**
 * Returns true if the header (`t=...,v1=...`) signs exactly this body with the secret, at about `now` (epoch seconds).
 * While a secret is being rotated, the provider sends several signatures.
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

/** Returns the HMAC-SHA-256 of `time.body` in hex. */
export function signEvent(time: string, body: string, secret: string): string {
  return createHmac("sha256", secret).update(`${time}.${body}`).digest("hex");
}
