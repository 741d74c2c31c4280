import { QUOTA_PER_UNIT } from "./constants.ts";
import { decimalText } from "./decimals.ts";

export interface MoneyStyle {
  /** Option `QuotaPerUnit`. */
  readonly quotaPerUnit: number;
  /** Option `DisplayInCurrencyEnabled`. */
  readonly inCurrency: boolean;
}

/** Formats quota for logs and messages: `$0.200000`, or `100000 quota` if currency is off. */
export function formatQuota(quota: number, style: MoneyStyle): string {
  return style.inCurrency ? `$${dollars(quota, 6, style.quotaPerUnit)}` : `${quota} quota`;
}

/** Formats quota for screens: dollars with two decimals, or the shortened number. */
export function showQuota(quota: number, style: MoneyStyle, decimals = 2): string {
  return style.inCurrency ? `$${dollars(quota, decimals, style.quotaPerUnit)}` : shortNumber(quota);
}

/** Returns quota in dollars with a fixed number of decimals, rounded half away from zero, without binary fractions. */
export function dollars(quota: number, decimals: number, quotaPerUnit: number = QUOTA_PER_UNIT): string {
  const unit = scaled(quotaPerUnit);
  return ratioText(BigInt(quota) * unit.scale, unit.digits, decimals);
}

/**
 * Returns the quota units of a dollar amount entered as text, rounded half away from zero; undefined if it is not a
 * number.
 */
export function parseDollarQuota(text: string, quotaPerUnit: number = QUOTA_PER_UNIT): number | undefined {
  const plain = decimalText(text.trim());
  if (plain === undefined) return undefined;
  const amount = scaledText(plain);
  const unit = scaled(quotaPerUnit);
  const quota = Number(ratioText(amount.digits * unit.digits, amount.scale * unit.scale, 0));
  return Number.isSafeInteger(quota) ? quota : undefined;
}

const SHORT = [
  { from: 1e9, letter: "B" },
  { from: 1e6, letter: "M" },
  { from: 1e4, letter: "k", unit: 1e3 },
] as const;

/** Shortens a number: 1e4 and more with k, 1e6 and more with M, 1e9 and more with B, with one decimal. */
export function shortNumber(value: number): string {
  for (const step of SHORT) {
    const unit = "unit" in step ? step.unit : step.from;
    if (Math.abs(value) >= step.from) return `${(value / unit).toFixed(1)}${step.letter}`;
  }
  return String(value);
}

/** Formatters are cached, because creating one takes longer than a thousand uses of it. */
const CLOCKS = new Map<string | undefined, Intl.DateTimeFormat>();

function getClock(timeZone: string | undefined): Intl.DateTimeFormat {
  const known = CLOCKS.get(timeZone);
  if (known) return known;
  const clock = new Intl.DateTimeFormat("en-CA", {
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23",
    ...(timeZone === undefined ? {} : { timeZone }),
  });
  CLOCKS.set(timeZone, clock);
  return clock;
}

/** Formats epoch seconds as `2026-11-21 08:05:09` in the reader's time zone, or in the given one. */
export function formatTime(seconds: number, timeZone?: string): string {
  const parts = getClock(timeZone).formatToParts(new Date(seconds * 1000));
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.find((one) => one.type === type)?.value ?? "";
  return `${part("year")}-${part("month")}-${part("day")} ${part("hour")}:${part("minute")}:${part("second")}`;
}

interface Scaled {
  readonly digits: bigint;
  readonly scale: bigint;
}

function scaled(value: number): Scaled {
  return scaledText(decimalText(String(value)) ?? "0");
}

function scaledText(plain: string): Scaled {
  const [whole = "0", fraction = ""] = plain.split(".");
  return { digits: BigInt(whole + fraction), scale: 10n ** BigInt(fraction.length) };
}

/** Returns `numerator / denominator` with a fixed number of decimals. */
function ratioText(numerator: bigint, denominator: bigint, decimals: number): string {
  const isNegative = numerator < 0n;
  const top = (isNegative ? -numerator : numerator) * 10n ** BigInt(decimals);
  const rounded = (top * 2n + denominator) / (denominator * 2n);
  const digits = rounded.toString().padStart(decimals + 1, "0");
  const text = decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
  return isNegative && rounded !== 0n ? `-${text}` : text;
}
