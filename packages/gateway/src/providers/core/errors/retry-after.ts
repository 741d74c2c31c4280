import type { JsonObject } from "../../../dialects/core/types.ts";
import { asList, asNumber, asObject, asText } from "./error-body.ts";

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
/**
 * The longest wait that is passed on: providers' longest windows are weeks, and a longer wait is a mistake that no
 * client should receive.
 */
const LONGEST_MS = 7 * 24 * 3_600_000;

/**
 * Returns the wait that the upstream requests in milliseconds, from the first source that has one: `retry-after-ms`,
 * `retry-after` (seconds or a date), Google's `retryDelay`, `retry_after` of error metadata, a sentence ("try again in
 * 900ms").
 */
export function retryAfterMs(
  headers: Readonly<Record<string, string>>,
  source: JsonObject | undefined,
  message: string,
  now: number,
): number | undefined {
  const asked = fromHeaders(headers, now) ?? (source ? fromBody(source) : undefined) ?? fromText(message);
  return asked === undefined ? undefined : Math.min(asked, LONGEST_MS);
}

function fromHeaders(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const exact = Number(headers["retry-after-ms"] ?? Number.NaN);
  if (exact >= 0) return Math.round(exact);
  const text = headers["retry-after"]?.trim();
  if (text === undefined || text === "") return undefined;
  if (/^\d+(?:\.\d+)?$/.test(text)) return Math.round(Number(text) * 1000);
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

function fromBody(source: JsonObject): number | undefined {
  for (const entry of asList(source["details"])) {
    const delay = asText(asObject(entry)?.["retryDelay"]);
    const wait = delay === undefined ? undefined : duration(delay);
    if (wait !== undefined) return wait;
  }
  for (const member of ["metadata", "availability"]) {
    const seconds = asNumber(asObject(source[member])?.["retry_after"]);
    if (seconds !== undefined && seconds >= 0) return Math.round(seconds * 1000);
  }
  return undefined;
}

function fromText(message: string): number | undefined {
  const found = /\b(?:try again|retry) (?:in|after) ((?:\d+(?:\.\d+)?(?:ms|s|m|h) ?)+)/i.exec(message);
  return found?.[1] === undefined ? undefined : duration(found[1]);
}

/** Parses durations such as "33s", "900ms" and "1m30.5s". */
function duration(text: string): number | undefined {
  let total: number | undefined;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/gi)) {
    total = (total ?? 0) + Number(amount) * (UNIT_MS[(unit ?? "").toLowerCase()] ?? 0);
  }
  return total === undefined ? undefined : Math.round(total);
}
