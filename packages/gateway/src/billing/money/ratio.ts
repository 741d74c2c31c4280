/**
 * An exact, reduced, non-negative fraction, because ratios and prices are decimals and some of them (4/3, 10/0.6) have
 * no finite decimal. `n` and `d` repeat it as safe integers, or are NaN if it is too large.
 */
export interface Ratio {
  readonly num: bigint;
  readonly den: bigint;
  readonly n: number;
  readonly d: number;
}

const DECIMAL = /^(\d+)(?:\.(\d*))?(?:e([+-]?\d{1,3}))?$/i;

/** Reads decimal text (`0.075`, `1e-7`) or a number by its shortest decimal; throws a RangeError for anything else. */
export function ratio(value: number | string): Ratio {
  const match = DECIMAL.exec(String(value).trim());
  if (!match) throw new RangeError(`not a ratio: ${value}`);
  const fraction = match[2] ?? "";
  const exponent = Number(match[3] ?? 0) - fraction.length;
  const digits = BigInt(`${match[1]}${fraction}`);
  return exponent >= 0
    ? reduceFraction(digits * 10n ** BigInt(exponent), 1n)
    : reduceFraction(digits, 10n ** BigInt(-exponent));
}

const known = new Map<string, Ratio>();
const KNOWN_AT_MOST = 1000;

/** Like `ratio`, with a cache for the few texts that come with every request, such as group ratios. */
export function knownRatio(text: string): Ratio {
  let found = known.get(text);
  if (found === undefined) {
    found = ratio(text);
    if (known.size >= KNOWN_AT_MOST) known.clear();
    known.set(text, found);
  }
  return found;
}

/** Returns the reduced fraction num/den; den must not be 0. */
export function reduceFraction(num: bigint, den: bigint): Ratio {
  const divisor = gcd(num, den);
  const top = num / divisor;
  const bottom = den / divisor;
  return { num: top, den: bottom, n: safe(top), d: safe(bottom) };
}

export const ZERO_RATIO = reduceFraction(0n, 1n);
export const ONE = reduceFraction(1n, 1n);

/** a × b, exactly. */
export function times(a: Ratio, b: Ratio): Ratio {
  return reduceFraction(a.num * b.num, a.den * b.den);
}

/** a + b, exactly. */
export function plus(a: Ratio, b: Ratio): Ratio {
  return reduceFraction(a.num * b.den + b.num * a.den, a.den * b.den);
}

/** a / b; b must not be 0. */
export function over(a: Ratio, b: Ratio): Ratio {
  return reduceFraction(a.num * b.den, a.den * b.num);
}

/** Exact comparison; both sides are reduced. */
export function equals(a: Ratio, b: Ratio): boolean {
  return a.num === b.num && a.den === b.den;
}

/** True if `a` is 0. */
export function isZero(a: Ratio): boolean {
  return a.num === 0n;
}

/** Returns the nearest double, for display and logs. */
export function toNumber(a: Ratio): number {
  if (a.n === a.n && a.d === a.d) return a.n / a.d;
  const scaled = (a.num * 10n ** 20n) / a.den;
  return Number(scaled) / 1e20;
}

/** Returns the exact value as text: a decimal if it is finite, otherwise a fraction such as `4/3`. */
export function exactText({ num, den }: Ratio): string {
  const decimals = countDecimals(den);
  if (decimals === undefined) return `${num}/${den}`;
  const digits = ((num * 10n ** BigInt(decimals)) / den).toString().padStart(decimals + 1, "0");
  return decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

/** Reads the text of `exactText`; throws a RangeError for anything else. */
export function readExact(text: string): Ratio {
  const [num = "", den] = text.split("/");
  if (den === undefined) return ratio(num);
  if (!/^\d+$/.test(num) || !/^\d*[1-9]\d*$/.test(den)) throw new RangeError(`not a ratio: ${text}`);
  return reduceFraction(BigInt(num), BigInt(den));
}

/** Returns the number of decimals of a reduced fraction over `den`; undefined if they never end. */
function countDecimals(den: bigint): number | undefined {
  let rest = den;
  const times = (prime: bigint) => {
    let count = 0;
    for (; rest % prime === 0n; count++) rest /= prime;
    return count;
  };
  const decimals = Math.max(times(2n), times(5n));
  return rest === 1n ? decimals : undefined;
}

/** Rounds a non-negative fraction once, halves up. */
export function roundHalfUp(num: bigint, den: bigint): bigint {
  return (2n * num + den) / (2n * den);
}

/** Returns num / den rounded up; den must be positive. */
export function ceiling(num: bigint, den: bigint): bigint {
  return (num + den - 1n) / den;
}

/** Returns the least common multiple of two positive integers. */
export function lcm(a: bigint, b: bigint): bigint {
  return (a / gcd(a, b)) * b;
}

function gcd(a: bigint, b: bigint): bigint {
  let x = a;
  let y = b;
  while (y !== 0n) [x, y] = [y, x % y];
  return x === 0n ? 1n : x;
}

function safe(value: bigint): number {
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : Number.NaN;
}
