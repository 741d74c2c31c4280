import { CliError, EXIT } from "./exit.ts";

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Reads the seconds of `15m`, `1h`, `7d`; undefined if the text is not a span. */
export function parseSpanSeconds(text: string): number | undefined {
  const span = /^(\d{1,9})([smhd])$/.exec(text);
  return span ? Number(span[1]) * (UNITS[span[2] ?? ""] ?? 0) : undefined;
}

/** Seconds of a span that a flag names. */
export function parseSpan(text: string, flag: string): number {
  const seconds = parseSpanSeconds(text);
  if (seconds === undefined) throw new CliError(`${flag} ${text} is not a duration`, EXIT.usage, "write 15m, 1h or 7d");
  return seconds;
}

/** Reads ISO 8601 only and returns epoch seconds: `Date.parse` finds a date in almost any text with a number. */
export function parseDateSeconds(text: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d)?)?$/.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.floor(at / 1000);
}

/** Returns the epoch seconds of a past moment, written as a span or as a date. */
export function parsePastTime(text: string, flag: string, nowSeconds: number): number {
  const span = parseSpanSeconds(text);
  const at = span === undefined ? parseDateSeconds(text) : nowSeconds - span;
  if (at === undefined)
    throw new CliError(`${flag} ${text} is not a duration`, EXIT.usage, "write 15m, 1h, 7d or 2026-11-23T08:00");
  return at;
}
