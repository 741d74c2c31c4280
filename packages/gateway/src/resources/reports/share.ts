import { isTagKey, type ReportField } from "@fairway/wire";
import { refuse } from "./question.ts";

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

/** Stands for calls without the tag, which no value of a tag can be. */
const NONE = "~none";
const TAG = "tag:";
const MAX_VALUES = 100;
const MAX_WEIGHT = 1_000_000;

/** Reads what is shared, and how. Throws a refusal that names the field. */
export function readSharing(
  { shared, split }: { readonly shared: string; readonly split: string },
  by: readonly string[],
): Sharing | undefined {
  if (shared === "" && split !== "") throw refuse("split", "needs the values whose cost is shared: set shared too");
  if (shared === "") return undefined;
  const pairs = shared.split("|").map((pair) => splitPair(pair));
  const [key = ""] = pairs[0] ?? [];
  if (!isTagKey(key) || pairs.some(([other, value]) => other !== key || value === ""))
    throw refuse("shared", `must have values of one tag, such as app=platform|app=${NONE}`);
  if (pairs.length > MAX_VALUES) throw refuse("shared", `must have at most ${MAX_VALUES} values`);
  if (!by.includes(TAG + key)) throw refuse("shared", `needs ${TAG}${key} among the fields of by`);
  const values = new Set(pairs.map(([, value]) => (value === NONE ? "" : value)));
  return { field: `${TAG}${key}`, values, split: readSplit(split, values) };
}

function readSplit(text: string, shared: ReadonlySet<string>): Split {
  if (text === "" || text === "proportional") return "proportional";
  if (text === "even") return "even";
  const weights = text.split("|").map((pair): readonly [string, number] => {
    const [value, weight] = splitPair(pair);
    return [value === NONE ? "" : value, /^\d{1,7}$/.test(weight) ? Number(weight) : -1];
  });
  const isUsable = weights.every(([value, weight]) => weight >= 0 && weight <= MAX_WEIGHT && !shared.has(value));
  if (!isUsable || weights.length > MAX_VALUES)
    throw refuse("split", "must be proportional, even, or weights of values that are not shared, such as shop=2|crm=1");
  return new Map(weights.map(([value, weight]) => [value, BigInt(weight)]));
}

/** Splits at the first `=`: a value of a tag has none. */
function splitPair(pair: string): readonly [string, string] {
  const at = pair.indexOf("=");
  return at < 0 ? [pair, ""] : [pair.slice(0, at), pair.slice(at + 1)];
}

/**
 * Returns what each row gets of the shared cost of its interval; rows whose cost is shared lose it. All parts together
 * are 0, to the unit. An interval without anyone to share with is left as it is.
 */
export function shareCosts(rows: readonly Row[], { values, split }: Sharing): number[] {
  const parts = rows.map(() => 0);
  const places = Map.groupBy(rows.keys(), (at) => rows[at]?.start);
  for (const inside of places.values()) {
    const isShared = (at: number) => values.has(rows[at]?.value ?? "");
    const others = inside.filter((at) => !isShared(at));
    const byValue = [...Map.groupBy(others, (at) => rows[at]?.value ?? "")];
    const cost = (all: readonly number[]) => all.reduce((sum, at) => sum + BigInt(rows[at]?.quota ?? 0), 0n);
    const weights = byValue.map(([value, own]) => weigh(split, value, cost(own)));
    const amount = cost(inside.filter(isShared));
    const shares = apportion(amount, weights);
    if (!shares) continue;
    for (const at of inside) if (isShared(at)) parts[at] = -(rows[at]?.quota ?? 0);
    for (const [index, [, own]] of byValue.entries()) {
      const share = shares[index] ?? 0n;
      const costs = own.map((at) => BigInt(rows[at]?.quota ?? 0));
      const inner =
        apportion(share, costs) ??
        apportion(
          share,
          costs.map(() => 1n),
        ) ??
        [];
      for (const [place, at] of own.entries()) parts[at] = Number(inner[place] ?? 0n);
    }
  }
  return parts;
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
