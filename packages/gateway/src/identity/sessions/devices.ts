import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { seconds, type Clock } from "../../lib/clock.ts";
import type { Secret } from "../../lib/secret.ts";
import { hostCookie, readHostCookie, setCookie } from "./cookies.ts";

/**
 * Remembers in a browser which accounts have signed in there. It grants no access: it only distinguishes owners from
 * strangers.
 */
export interface Devices {
  /** Returns the name of the device if it has signed in to the account before. */
  findDevice(request: IncomingMessage, userId: number): string | undefined;
  /** Marks the device after a sign-in. */
  remember(request: IncomingMessage, response: ServerResponse, userId: number, isSecure: boolean): void;
}

const LIFE_SECONDS = 180 * 86_400;
const RENEW_BEFORE_SECONDS = 90 * 86_400;
const NONCE_BYTES = 16;

export function createDevices({ secret, clock }: { readonly secret: Secret; readonly clock: Clock }): Devices {
  const sign = (userId: number, nonce: string, expiresAt: string) =>
    createHmac("sha256", secret.reveal()).update(`device\n${userId}\n${nonce}\n${expiresAt}`).digest("base64url");
  const read = (request: IncomingMessage, userId: number) => {
    const [nonce = "", expiresAt = "", mark = ""] = (readHostCookie(request, buildCookieName(userId)) ?? "").split(".");
    if (!/^[\w-]{22}$/.test(nonce) || !/^\d{1,12}$/.test(expiresAt) || Number(expiresAt) <= seconds(clock)) return;
    return isSame(mark, sign(userId, nonce, expiresAt)) ? { nonce, expiresAt: Number(expiresAt) } : undefined;
  };
  return {
    findDevice: (request, userId) => read(request, userId)?.nonce,
    remember(request, response, userId, isSecure) {
      const now = seconds(clock);
      const old = read(request, userId);
      if (old && old.expiresAt - now > RENEW_BEFORE_SECONDS) return;
      const nonce = old?.nonce ?? randomBytes(NONCE_BYTES).toString("base64url");
      const expiresAt = String(now + LIFE_SECONDS);
      const value = `${nonce}.${expiresAt}.${sign(userId, nonce, expiresAt)}`;
      setCookie(response, hostCookie(buildCookieName(userId), isSecure), value, {
        maxAgeSeconds: LIFE_SECONDS,
        isSecure,
      });
    },
  };
}

function buildCookieName(userId: number): string {
  return `device-${userId}`;
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
