import * as z from "zod/mini";
import { ANY_VALUE } from "./budget-terms.ts";
import { characters } from "./characters.ts";
import { REASONS } from "./reasons.ts";
import { readStored } from "./stored.ts";
import { isTagKey, normalizeTagValue } from "./tags.ts";

/** The key whose values are end users; every other key is that of a tag. */
export const END_USER_KEY = "end_user";

/** Most keys of one list of limits, and most values of all its keys together. */
export const MAX_TAG_LIMIT_KEYS = 16;
export const MAX_TAG_LIMIT_VALUES = 1_000;
/** Characters of an end user in the log: a longer name is stored as its hash. */
const MAX_END_USER = 64;

/** Most values of one `*` that are counted by themselves at a time; further ones share one counter. */
export const MAX_COUNTED_VALUES = 10_000;

const limit = z.optional(z.int().check(z.minimum(1)));

const one = z.strictObject({
  rpm: limit,
  tpm: limit,
  concurrency: limit,
  /** True: calls with the value are refused. */
  blocked: z.optional(z.boolean()),
});

/** The limits of one value; {} = none, also where `*` has some. */
export type TagLimit = Readonly<z.output<typeof one>>;

/** Limits by the key of a tag, or `end_user`, and by its value; `*` stands for each value that is not named. */
export const TagLimits = z.record(z.string(), z.record(z.string(), one)).check(
  z.refine((keys) => Object.keys(keys).every(isTagKey), { error: REASONS.tagKey }),
  z.refine((keys) => Object.keys(keys).length <= MAX_TAG_LIMIT_KEYS, { error: REASONS.tagKeys }),
  z.refine((keys) => countValues(keys) <= MAX_TAG_LIMIT_VALUES, { error: REASONS.tagLimitValues }),
  z.refine((keys) => Object.entries(keys).every(areTagValues), { error: REASONS.tagValue }),
);
export type TagLimits = Readonly<Record<string, Readonly<Record<string, TagLimit>>>>;

function countValues(keys: Readonly<Record<string, object>>): number {
  return Object.values(keys).reduce((sum, values) => sum + Object.keys(values).length, 0);
}

function areTagValues([key, values]: readonly [string, object]): boolean {
  return Object.keys(values).every((value) => value === ANY_VALUE || isLimitedValue(key, value));
}

/** Returns true if a call can have the value, in the form in which the log has it. */
export function isLimitedValue(key: string, value: string): boolean {
  return key === END_USER_KEY ? normalizeEndUser(value) === value : normalizeTagValue(value) === value;
}

/** Returns the name of an end user in the form in which it is stored; undefined if it cannot be one. */
export function normalizeEndUser(text: string): string | undefined {
  const name = text.normalize("NFC").trim();
  const isName = name !== "" && name.isWellFormed() && !/[\p{Cc}\u2028\u2029]/u.test(name);
  return isName && characters(name) <= MAX_END_USER ? name : undefined;
}

/** Returns the limits of a row's text; undefined if there are none or they cannot be read. */
export function readStoredTagLimits(text: string | null | undefined): TagLimits | undefined {
  return readStored(TagLimits, text);
}
