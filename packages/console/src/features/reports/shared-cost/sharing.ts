import { MAX_SHARED_VALUES, NO_TAG_VALUE, readSharePairs, writeSharePairs, type UsageReport } from "@fairway/wire";
import { listAsked, readFields, TAG } from "../fields.ts";
import type { Reader } from "../reader.ts";
import { readText } from "../shape.ts";

/** The part of the question of the page that decides what is shared. */
interface Asked {
  readonly by: string;
  readonly shared: string;
  readonly split: string;
}

export const SPLITS = ["proportional", "even", "weights"] as const;
export type Split = (typeof SPLITS)[number];

const USUAL_WEIGHT = "1";

/** Returns how a text of the address splits: any that is no word has weights, which the gateway checks. */
export function findSplit(text: string): Split {
  return text === "" ? "proportional" : (SPLITS.find((name) => name === text) ?? "weights");
}

/** Values of a tag whose cost the others share, and how. */
export interface Sharing {
  readonly key: string;
  /** `~none` are the calls without the tag. */
  readonly values: readonly string[];
  readonly split: Split;
  /** How much each other value bears; those that are absent bear nothing. */
  readonly weights: ReadonlyMap<string, string>;
}

/** Returns the keys of the tags by which a report groups. */
export function listTagKeys({ by }: Pick<Asked, "by">, reader: Pick<Reader, "of">): readonly string[] {
  const tags = listAsked(readFields(by, reader)).filter((name) => name.startsWith(TAG));
  return tags.map((name) => name.slice(TAG.length));
}

/** Reads what is shared; undefined without a tag among the fields whose values are. */
export function readSharing(asked: Asked, reader: Pick<Reader, "of">): Sharing | undefined {
  const pairs = readSharePairs(asked.shared);
  const [key = ""] = pairs[0] ?? [];
  if (!listTagKeys(asked, reader).includes(key)) return undefined;
  const split = findSplit(asked.split);
  const weights = new Map(split === "weights" ? readSharePairs(asked.split) : []);
  return { key, values: pairs.map(([, value]) => value).filter((value) => value !== ""), split, weights };
}

/** Returns the texts of the address for what is shared; a key alone until its values are chosen. */
export function writeSharing({ key, values, split, weights }: Sharing): Pick<Asked, "shared" | "split"> {
  const shared = values.length === 0 ? key : writeSharePairs(values.map((value): [string, string] => [key, value]));
  if (split === "weights") return { shared, split: writeSharePairs(weights) };
  return { shared, split: split === "even" ? split : "" };
}

/** Returns what the gateway is asked for: nothing until there is a value whose cost is shared. */
export function askSharing(asked: Asked, reader: Pick<Reader, "of">): Partial<Pick<Asked, "shared" | "split">> {
  const sharing = readSharing(asked, reader);
  if (!sharing || sharing.values.length === 0) return {};
  return { shared: asked.shared, ...(asked.split !== "" && { split: asked.split }) };
}

/** Returns the values of the tag in a report, the most expensive first. */
export function listValues({ columns, rows }: Pick<UsageReport, "columns" | "rows">, key: string): readonly string[] {
  const column = TAG + key;
  if (!columns.includes(column)) return [];
  const costs = new Map<string, number>();
  for (const row of rows) {
    const value = readText(row, column) || NO_TAG_VALUE;
    costs.set(value, (costs.get(value) ?? 0) + row.quota);
  }
  return [...costs].toSorted(([, one], [, other]) => other - one).map(([value]) => value);
}

/** Shares the cost of a value, or no longer does. What is shared bears nothing itself. */
export function toggleValue(sharing: Sharing, value: string): Sharing {
  const { values, weights } = sharing;
  const others = [...weights].filter(([name]) => name !== value);
  if (!values.includes(value))
    return { ...sharing, values: [...values, value].slice(0, MAX_SHARED_VALUES), weights: new Map(others) };
  const rest = { ...sharing, values: values.filter((one) => one !== value) };
  return sharing.split === "weights" ? setWeight(rest, value, USUAL_WEIGHT) : rest;
}

/** Changes how cost is shared; weights begin the same for all. */
export function chooseSplit(sharing: Sharing, split: Split, known: readonly string[]): Sharing {
  const others = known.filter((value) => !sharing.values.includes(value)).slice(0, MAX_SHARED_VALUES);
  return {
    ...sharing,
    split,
    weights: new Map(split === "weights" ? others.map((value): [string, string] => [value, USUAL_WEIGHT]) : []),
  };
}

/** Sets the weight of a value; one without a number bears nothing. */
export function setWeight(sharing: Sharing, value: string, weight: string): Sharing {
  return { ...sharing, weights: new Map([...sharing.weights, [value, String(Number(weight))] as const]) };
}
