/** The server's settings for displaying amounts; both come with the public status. */
export interface QuotaDisplay {
  readonly quotaPerUnit: number;
  readonly inCurrency: boolean;
}

/** Creating a formatter takes longer than formatting a hundred numbers, and tables format thousands. */
const decimals = new Map<string, Intl.NumberFormat>();

/** Formats a number for the language, with thousands separators and `least` to `most` decimals. */
export function formatDecimal(value: number, locale: string, least: number, most = least): string {
  const key = `${locale} ${least} ${most}`;
  let format = decimals.get(key);
  if (!format) {
    format = new Intl.NumberFormat(locale, { minimumFractionDigits: least, maximumFractionDigits: most });
    decimals.set(key, format);
  }
  return format.format(value);
}

export function formatCount(value: number, locale: string): string {
  return formatDecimal(value, locale, 0, 3);
}

/** Formats 12,345 as 12.3k; below ten thousand the number itself. */
export function abbreviate(value: number, locale: string): string {
  const size = Math.abs(value);
  const short = (unit: number) => formatDecimal(value / unit, locale, 0, 1);
  // A number that rounds up to a thousand of one unit is shown as one of the next.
  if (size >= 999_950_000) return `${short(1e9)}B`;
  if (size >= 999_950) return `${short(1e6)}M`;
  if (size >= 1e4) return `${short(1e3)}k`;
  return formatCount(value, locale);
}

/** Formats dollars with two decimals; amounts below a cent have up to six, so that no charge reads as zero. */
export function dollars(amount: number, locale: string): string {
  const size = Math.abs(amount);
  const sign = amount < 0 ? "-" : "";
  if (size > 0 && size < 0.01) {
    const text = formatDecimal(size, locale, 0, 6);
    return text === "0" ? `${sign}<$0.000001` : `${sign}$${text}`;
  }
  return `${sign}$${formatDecimal(size, locale, 2)}`;
}

export function formatQuota(quota: number, display: QuotaDisplay, locale: string): string {
  return display.inCurrency ? dollars(quota / display.quotaPerUnit, locale) : abbreviate(quota, locale);
}

/** Formats like `formatQuota`, with the six decimals that single charges need. */
export function formatQuotaPrecise(quota: number, display: QuotaDisplay, locale: string): string {
  return display.inCurrency ? preciseDollars(quota / display.quotaPerUnit, locale) : formatCount(quota, locale);
}

export function preciseDollars(amount: number, locale: string): string {
  return `${amount < 0 ? "-" : ""}$${formatDecimal(Math.abs(amount), locale, 6)}`;
}

/** Formats the unit that `formatQuota` did not choose, with the exact integer; for tooltips. */
export function formatQuotaExact(quota: number, display: QuotaDisplay, locale: string): string {
  return `${formatCount(quota, locale)} · ${preciseDollars(quota / display.quotaPerUnit, locale)}`;
}

/** Returns the quota units of a typed text; undefined if it is not an amount. */
export function parseAmount(text: string, unit: number): number | undefined {
  const trimmed = text.trim().replace(/^\$/, "");
  // Commas only separate thousands: for readers who use decimal commas, "1,5" must not become fifteen.
  if (!/^(\d+|\d{1,3}(,\d{3})+)(\.\d*)?$|^\.\d+$/.test(trimmed)) return undefined;
  const quota = Math.round(Number(trimmed.replaceAll(",", "")) * unit);
  return Number.isSafeInteger(quota) ? quota : undefined;
}

/**
 * Formats the price of a million tokens: two decimals or more, up to six significant digits, without floating-point
 * noise.
 */
export function pricePerMillion(amount: number, locale: string): string {
  return `$${formatDecimal(Number(amount.toPrecision(6)), locale, 2, 20)}`;
}

export function seconds(milliseconds: number): string {
  const value = milliseconds / 1000;
  if (value < 10) return `${value.toFixed(2)} s`;
  return `${value < 100 ? value.toFixed(1) : Math.round(value)} s`;
}

/** Formats a short time: `4 ms`, `1.25 s`. */
export function milliseconds(value: number): string {
  return value < 1_000 ? `${Math.round(value)} ms` : seconds(value);
}

/** Formats a duration in whole seconds: `48 s`, `2 min 05 s`, `1 h 02 min`. */
export function formatElapsed(length: number): string {
  const whole = Math.max(0, Math.round(length));
  const two = (value: number) => String(value).padStart(2, "0");
  if (whole < 60) return `${whole} s`;
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${two(whole % 60)} s`;
  return `${Math.floor(whole / 3_600)} h ${two(Math.floor((whole % 3_600) / 60))} min`;
}

/** The last day of the year 9999: later dates have more digits than fields accept, and very late ones are invalid. */
const LAST_TIME = 253_402_214_400;

/** Returns the date of a Unix time, at most `LAST_TIME`. */
export function toDate(at: number): Date {
  return new Date(Math.min(at, LAST_TIME) * 1000);
}

/** A smaller share is not shown as zero. */
const LEAST_SHARE = 0.001;

/** Formats `4%`, `28.7%`; with at least `least` decimals, if shares are listed below one another. */
export function formatShare(part: number, whole: number, locale: string, least: 0 | 1 = 0): string {
  const share = whole === 0 ? 0 : part / whole;
  const digits = { minimumFractionDigits: least, maximumFractionDigits: 1 };
  const format = new Intl.NumberFormat(locale, { style: "percent", ...digits });
  return share > 0 && share < LEAST_SHARE ? `<${format.format(LEAST_SHARE)}` : format.format(share);
}

/** Growth up to this factor is shown as a percentage. */
const MAX_IN_PERCENT = 10;
const MAX_TIMES = 1_000;

/**
 * Formats `+12%` or `×14` compared with before, with this many digits of a percentage; undefined if there was nothing
 * before.
 */
export function formatChange(value: number, before: number, locale: string, digits = 0): string | undefined {
  if (before <= 0) return undefined;
  const times = value / before;
  if (times > MAX_TIMES) return `>×${formatCount(MAX_TIMES, locale)}`;
  if (times > MAX_IN_PERCENT) return `×${formatDecimal(times, locale, 0)}`;
  const style = { style: "percent", maximumFractionDigits: digits, signDisplay: "exceptZero" } as const;
  return new Intl.NumberFormat(locale, style).format(times - 1);
}

interface TimeFormats {
  readonly day: Intl.DateTimeFormat;
  readonly exact: Intl.DateTimeFormat;
  readonly relative: Intl.RelativeTimeFormat;
}

const times = new Map<string, TimeFormats>();

function getTimeFormats(locale: string): TimeFormats {
  let formats = times.get(locale);
  if (!formats) {
    formats = {
      day: new Intl.DateTimeFormat(locale, { dateStyle: "medium" }),
      exact: new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "long", hourCycle: "h23" }),
      relative: new Intl.RelativeTimeFormat(locale, { style: "short", numeric: "auto" }),
    };
    times.set(locale, formats);
  }
  return formats;
}

const UNITS = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const;

/** Formats "3 min. ago" within a week of `now`, the date afterwards. Both times are Unix seconds. */
export function formatWhen(at: number, now: number, locale: string): string {
  const distance = at - now;
  const size = Math.abs(distance);
  if (size >= 7 * 86_400) return getTimeFormats(locale).day.format(toDate(at));
  const { relative } = getTimeFormats(locale);
  for (const [unit, length] of UNITS) {
    if (size >= length) return relative.format(Math.trunc(distance / length), unit);
  }
  // The caller's clock moves in steps: seconds would be wrong, and sometimes in the future.
  return size < 20 ? relative.format(0, "second") : relative.format(Math.trunc(distance), "second");
}

export function formatExactTime(at: number, locale: string): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "long", hourCycle: "h23" }).format(
    toDate(at),
  );
}

/** Formats date and time to the second in local time, for dense columns: `11-21 07:12:38`. */
export function formatStamp(at: number): string {
  const date = toDate(at);
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** The latest value of a `datetime-local` input: without it, years may have six digits. */
export const LAST_LOCAL_INPUT = "9999-12-31T23:59:59";

/** Converts a Unix time to the value of a `datetime-local` input, which uses local time, and back. */
export function toLocalInput(at: number): string {
  const date = toDate(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

export function fromLocalInput(text: string): number | undefined {
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : Math.floor(time / 1000);
}
