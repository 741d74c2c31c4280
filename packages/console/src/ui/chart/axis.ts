import { formatDecimal, type QuotaDisplay } from "../../lib/format.ts";

/** How a chart places and labels the lines of its axis. Each chart has one, so that no axis has two units. */
export interface ChartAxis {
  /** Returns the unit of an axis whose largest value is `top`; lines are at round multiples of it. */
  selectUnit(top: number): number;
  /** Writes all labels together: they share the unit and the number of decimals. */
  printLines(lines: readonly number[], unit: number): readonly string[];
}

const MAX_DECIMALS = 6;
/** More than the error of a sum of floating-point numbers, less than any step between two lines. */
const TOLERANCE = 1e-9;

/** Returns how many decimals the number needs that needs most. */
function countDecimals(values: readonly number[]): number {
  const tolerance = TOLERANCE * Math.max(...values.map(Math.abs), TOLERANCE);
  const isExact = (value: number, digits: number) => Math.abs(value - Number(value.toFixed(digits))) <= tolerance;
  for (let digits = 0; digits < MAX_DECIMALS; digits++)
    if (values.every((value) => isExact(value, digits))) return digits;
  return MAX_DECIMALS;
}

interface Style {
  readonly language: string;
  readonly before?: string;
  readonly after: string;
  /** One decimal of an amount of money is written as two. */
  readonly isMoney?: boolean;
}

function printAlike(values: readonly number[], { language, before = "", after, isMoney }: Style): readonly string[] {
  const needed = countDecimals(values);
  const digits = isMoney && needed === 1 ? 2 : needed;
  return values.map((value) => `${before}${formatDecimal(value, language, digits)}${after}`);
}

/** Sizes with their signs, the largest first, each with the least end of an axis that uses it. */
const SIZES = [
  { size: 1e9, least: 1e9, sign: "B" },
  { size: 1e6, least: 1e6, sign: "M" },
  { size: 1e3, least: 1e4, sign: "k" },
] as const;

const selectSize = (top: number) => SIZES.find(({ least }) => top >= least)?.size ?? 1;
const findSign = (unit: number) => SIZES.find(({ size }) => size === unit)?.sign ?? "";

/** The axis of calls, tokens and other counts. */
export function buildCountAxis(language: string): ChartAxis {
  return {
    selectUnit: selectSize,
    printLines: (lines, unit) =>
      printAlike(
        lines.map((line) => line / unit),
        { language, after: findSign(unit) },
      ),
  };
}

/** The axis of quota, in dollars where amounts are shown in dollars. */
export function buildQuotaAxis({ inCurrency, quotaPerUnit }: QuotaDisplay, language: string): ChartAxis {
  if (!inCurrency) return buildCountAxis(language);
  return {
    selectUnit: (top) => selectSize(top / quotaPerUnit) * quotaPerUnit,
    printLines: (lines, unit) =>
      printAlike(
        lines.map((line) => line / unit),
        { language, before: "$", after: findSign(Math.round(unit / quotaPerUnit)), isMoney: true },
      ),
  };
}

const PERCENT = 0.01;

/** The axis of shares from 0 to 1, in percent. */
export function buildShareAxis(language: string): ChartAxis {
  return {
    selectUnit: () => PERCENT,
    printLines: (lines, unit) =>
      printAlike(
        lines.map((line) => line / unit),
        { language, after: "%" },
      ),
  };
}

const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
const DURATIONS: Readonly<Record<number, string>> = { 1: "ms", [SECOND_MS]: "s", [MINUTE_MS]: "min" };

/** The axis of durations in milliseconds. */
export function buildDurationAxis(language: string): ChartAxis {
  return {
    selectUnit: (top) => (top >= 2 * MINUTE_MS ? MINUTE_MS : top >= SECOND_MS ? SECOND_MS : 1),
    printLines: (lines, unit) =>
      printAlike(
        lines.map((line) => line / unit),
        { language, after: ` ${DURATIONS[unit] ?? ""}` },
      ),
  };
}
