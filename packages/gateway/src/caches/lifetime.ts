import { gText } from "../dialects/gemini-generate/fields.ts";
import type { JsonObject } from "../dialects/core/types.ts";
import { text } from "../dialects/core/read.ts";
import { invalidRequest } from "../lib/app-error.ts";

/** The vendor stores a cache for an hour unless the client says how long. */
const USUAL_SECONDS = 3_600;
const DURATION = /^(\d{1,10})(?:\.\d{1,9})?s$/;

/** Returns the epoch seconds at which a cache ends by the members of its client; undefined if they do not say. */
export function readEnd(body: JsonObject, now: number): number | undefined {
  const ttl = gText(body, "ttl");
  const expires = gText(body, "expireTime");
  if (ttl !== undefined) {
    const [, seconds] = DURATION.exec(ttl) ?? [];
    if (seconds === undefined || Number(seconds) === 0)
      throw invalidRequest("ttl", 'ttl is a duration such as "300s".');
    return now + Number(seconds);
  }
  if (expires === undefined) return undefined;
  const end = Math.floor(Date.parse(expires) / 1_000);
  if (!Number.isSafeInteger(end) || end <= now)
    throw invalidRequest("expireTime", "expireTime is a time in the future such as 2026-12-31T00:00:00Z.");
  return end;
}

export function findUsualEnd(now: number): number {
  return now + USUAL_SECONDS;
}

/**
 * Returns when the cache of an upstream's answer ends, by the gateway's clock: the two clocks may differ, so only the
 * distance of the two times counts. Undefined if the answer does not say.
 */
export function readAnsweredEnd(answer: JsonObject, now: number): number | undefined {
  const [from, until] = [text(answer, "updateTime") ?? text(answer, "createTime"), text(answer, "expireTime")];
  const seconds = Math.ceil((Date.parse(until ?? "") - Date.parse(from ?? "")) / 1_000);
  return Number.isSafeInteger(seconds) && seconds > 0 ? now + seconds : undefined;
}
