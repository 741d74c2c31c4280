import { CliError, EXIT } from "./exit.ts";

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Seconds of `15m`, `1h`, `7d`; undefined where the text is no span. */
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

/** Epoch seconds of ISO 8601 alone: `Date.parse` finds a date in almost any text that holds a number. */
export function parseDateSeconds(text: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d)?)?$/.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.floor(at / 1000);
}

/** Epoch seconds of a moment that has passed: so long ago, or a date. */
export function parsePastTime(text: string, flag: string, nowSeconds: number): number {
  const span = parseSpanSeconds(text);
  const at = span === undefined ? parseDateSeconds(text) : nowSeconds - span;
  if (at === undefined)
    throw new CliError(`${flag} ${text} is not a duration`, EXIT.usage, "write 15m, 1h, 7d or 2026-11-23T08:00");
  return at;
}
