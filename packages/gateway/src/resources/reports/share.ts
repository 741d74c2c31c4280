import {
  isTagKey,
  MAX_SHARE_WEIGHT,
  MAX_SHARED_VALUES,
  NO_TAG_VALUE,
  readSharePairs,
  type ReportField,
} from "@fairway/wire";
import { refuse } from "./refuse.ts";

/** How the cost of some values of a tag is divided among the others. */
export interface Sharing {
  readonly field: ReportField;
  /** The values whose cost is shared; "" = calls without the tag. */
  readonly values: ReadonlySet<string>;
  readonly split: Split;
}

type Split = "proportional" | "even" | ReadonlyMap<string, bigint>;

/** What one row of a report costs by itself. */
interface Row {
  readonly start: number;
  readonly value: string;
  readonly quota: number;
}

const TAG = "tag:";

/** Reads what is shared, and how. Throws a refusal that names the field. */
export function readSharing(
  { shared, split }: { readonly shared: string; readonly split: string },
  by: readonly string[],
): Sharing | undefined {
  if (shared === "" && split !== "") throw refuse("split", "needs the values whose cost is shared: set shared too");
  if (shared === "") return undefined;
  const pairs = readSharePairs(shared);
  const [key = ""] = pairs[0] ?? [];
  if (!isTagKey(key) || pairs.some(([other, value]) => other !== key || value === ""))
    throw refuse("shared", `must have values of one tag, such as app=platform|app=${NO_TAG_VALUE}`);
  if (pairs.length > MAX_SHARED_VALUES) throw refuse("shared", `must have at most ${MAX_SHARED_VALUES} values`);
  if (!by.includes(TAG + key)) throw refuse("shared", `needs ${TAG}${key} among the fields of by`);
  const values = new Set(pairs.map(([, value]) => toRowValue(value)));
  return { field: `${TAG}${key}`, values, split: readSplit(split, values) };
}

function readSplit(text: string, shared: ReadonlySet<string>): Split {
  if (text === "" || text === "proportional") return "proportional";
  if (text === "even") return "even";
  const weights = readSharePairs(text).map(([value, weight]): readonly [string, number] => [
    toRowValue(value),
    /^\d{1,7}$/.test(weight) ? Number(weight) : -1,
  ]);
  const isUsable = weights.every(([value, weight]) => weight >= 0 && weight <= MAX_SHARE_WEIGHT && !shared.has(value));
  if (!isUsable || weights.length > MAX_SHARED_VALUES)
    throw refuse("split", "must be proportional, even, or weights of values that are not shared, such as shop=2|crm=1");
  return new Map(weights.map(([value, weight]) => [value, BigInt(weight)]));
}

/** Rows of calls without the tag have no text. */
function toRowValue(value: string): string {
  return value === NO_TAG_VALUE ? "" : value;
}

/**
 * Returns what each row gets of the shared cost of its interval; rows whose cost is shared lose it. All parts together
 * are 0, to the unit. An interval without anyone to share with is left as it is.
 */
export function shareCosts(rows: readonly Row[], sharing: Sharing): number[] {
  const parts = rows.map(() => 0);
  const items = rows.map(({ quota, ...row }, at) => ({ ...row, at, cost: BigInt(quota) }));
  for (const inside of Map.groupBy(items, ({ start }) => start).values())
    for (const { at, part } of shareWithin(inside, sharing)) parts[at] = Number(part);
  return parts;
}

interface Item {
  /** Its place in the report. */
  readonly at: number;
  readonly value: string;
  readonly cost: bigint;
}

interface Part {
  readonly at: number;
  readonly part: bigint;
}

/** Divides what is shared in one interval. */
function* shareWithin(items: readonly Item[], { values, split }: Sharing): Generator<Part> {
  const shared = items.filter(({ value }) => values.has(value));
  const others = items.filter(({ value }) => !values.has(value));
  const byValue = [...Map.groupBy(others, ({ value }) => value)];
  const weights = byValue.map(([value, own]) => weigh(split, value, sumCosts(own)));
  const shares = apportion(sumCosts(shared), weights);
  if (!shares) return;
  for (const { at, cost } of shared) yield { at, part: -cost };
  for (const [index, [, own]] of byValue.entries()) yield* divide(own, shares[index] ?? 0n);
}

/** Divides the share of one value among its rows by what they cost; evenly if they cost nothing. */
function* divide(own: readonly Item[], share: bigint): Generator<Part> {
  const costs = own.map(({ cost }) => cost);
  const equal = costs.map(() => 1n);
  const parts = apportion(share, costs) ?? apportion(share, equal) ?? [];
  for (const [place, { at }] of own.entries()) yield { at, part: parts[place] ?? 0n };
}

function sumCosts(items: readonly Item[]): bigint {
  return items.reduce((sum, { cost }) => sum + cost, 0n);
}

function weigh(split: Split, value: string, own: bigint): bigint {
  if (split === "proportional") return own;
  return split === "even" ? 1n : (split.get(value) ?? 0n);
}

/** Divides a whole by weights so that the parts add up: what rounding leaves goes to the largest remainders. */
function apportion(whole: bigint, weights: readonly bigint[]): bigint[] | undefined {
  const sum = weights.reduce((all, weight) => all + weight, 0n);
  if (sum === 0n) return undefined;
  const parts = weights.map((weight) => (whole * weight) / sum);
  const left = Number(whole - parts.reduce((all, part) => all + part, 0n));
  const remainders = weights.map((weight, at) => ({ at, rest: (whole * weight) % sum }));
  // Of equal remainders the first counts, so that a report is the same each time.
  const largest = remainders.toSorted((one, other) =>
    one.rest === other.rest ? one.at - other.at : one.rest > other.rest ? -1 : 1,
  );
  for (const { at } of largest.slice(0, left)) parts[at] = (parts[at] ?? 0n) + 1n;
  return parts;
}
