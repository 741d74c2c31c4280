// Numbers in tool inputs and schemas may have more digits than a double can represent. If parsing would change a value,
// the number is stored as written: `JSON.rawJSON`, which `JSON.stringify` writes unchanged.

declare global {
  interface JSON {
    rawJSON(text: string): { readonly rawJSON: string };
    isRawJSON(value: unknown): value is { readonly rawJSON: string };
  }
}

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;
const parseWith = JSON.parse as (text: string, reviver: Reviver) => unknown;

/**
 * Returns the value of a JSON text, in which numbers that a double would change are stored as written. As in
 * `JSON.parse`, the last value of a repeated key counts, and keys that are whole numbers come first. Throws for invalid
 * JSON. A caller that has read the text before may say whether a double represents all its numbers.
 */
export function parseExactly(text: string, isExact = !mayLoseNumbers(text)): unknown {
  return isExact ? JSON.parse(text) : parseWith(text, keepInexact);
}

const QUOTE = 34;
const PLUS = 43;
const MINUS = 45;
const DOT = 46;
const ZERO = 48;
const NINE = 57;
const BACKSLASH = 92;
/** Shorter numbers without an exponent are exact. */
const LONG_NUMBER = 16;

/**
 * Returns true for a JSON text with a number that a double may not represent: a long one, one with an exponent, or
 * minus zero.
 */
export function mayLoseNumbers(text: string): boolean {
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = stringEnd(text, at);
    else if (isDigit(code) || code === MINUS) {
      const end = numberEnd(text, at);
      const isMinusZero = code === MINUS && text.charCodeAt(at + 1) === ZERO;
      if (end < 0 || end - at >= LONG_NUMBER || isMinusZero) return true;
      at = end;
    } else at++;
  }
  return false;
}

/** Returns the index after the number that begins at `start`; negative if it has an exponent. */
function numberEnd(text: string, start: number): number {
  let at = start + 1;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 101 || code === 69) return -1;
    if (!isDigit(code) && code !== DOT && code !== MINUS && code !== PLUS) break;
  }
  return at;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

/** Returns the index after the closing quote of the string that opens at `open`. */
function stringEnd(text: string, open: number): number {
  for (let from = open + 1; ;) {
    const quote = text.indexOf('"', from);
    if (quote < 0) return text.length;
    let slashes = 0;
    while (text.charCodeAt(quote - slashes - 1) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return quote + 1;
    from = quote + 1;
  }
}

/** Returns the nearest double of a number that is stored as written, or any other value unchanged. */
export function nearestNumber(value: unknown): unknown {
  return typeof value === "object" && JSON.isRawJSON(value) ? Number(value.rawJSON) : value;
}

function keepInexact(_key: string, value: unknown, { source }: { readonly source?: string }): unknown {
  if (typeof value !== "number" || source === undefined || isExact(value, source)) return value;
  return JSON.rawJSON(source);
}

function isExact(value: number, source: string): boolean {
  if (!Number.isFinite(value) || Object.is(value, -0)) return false;
  return canonical(source) === canonical(String(value));
}

/** Returns the sign, the digits without zeros around them, and the power of ten of the last digit. */
function canonical(number: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? [];
  const digits = (whole + fraction).replace(/^0+/, "");
  const significant = digits.replace(/0+$/, "");
  if (significant === "") return "0";
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}
