import * as z from "zod/mini";
import { REASONS } from "./reasons.ts";
import { readStored } from "./stored.ts";
import { isTagKey, MAX_TAGS, normalizeTagValue } from "./tags.ts";

/** Most keys of one policy, and most values that it lists for a key. */
const MAX_POLICY_KEYS = 16;
const MAX_LISTED_VALUES = 500;

const value = z.string().check(z.refine((text) => normalizeTagValue(text) === text, { error: REASONS.tagValue }));

/** Returns a schema for an object by the keys of tags. */
function byTagKey<T extends z.ZodMiniType>(schema: T, most: number) {
  return z.record(z.string(), schema).check(
    z.refine((entries) => Object.keys(entries).every(isTagKey), { error: REASONS.tagKey }),
    z.refine((entries) => Object.keys(entries).length <= most, { error: REASONS.tagKeys }),
  );
}

const rule = z.strictObject({
  /** The values that are allowed, or `any`, which is the default. */
  values: z.optional(
    z.union([z.literal("any"), z.array(value).check(z.maxLength(MAX_LISTED_VALUES))], { error: REASONS.tagValues }),
  ),
  /** True: a call without the tag is refused. */
  required: z.optional(z.boolean()),
  /** The value of calls that have none; "" = none. */
  default: z.optional(
    z.string().check(z.refine((text) => text === "" || normalizeTagValue(text) === text, { error: REASONS.tagValue })),
  ),
  /** True: another value is refused. Otherwise it counts as `~other`. */
  strict: z.optional(z.boolean()),
});

const policyMembers = {
  /** The tags that are stored, by key. */
  keys: z.optional(byTagKey(rule, MAX_POLICY_KEYS)),
  /** Whether the end user of a call is stored: `off`, `client` (if the client names one) or `required`. */
  end_user: z.optional(z.enum(["off", "client", "required"], { error: REASONS.tagUsers })),
};

/** Which tags of a call are stored. {} = no policy of its own. */
export const TagPolicy = z.strictObject(policyMembers);
export type TagPolicy = z.output<typeof TagPolicy>;
export type TagRule = z.output<typeof rule>;

/** Tags that a client cannot override. */
export const FixedTags = byTagKey(value, MAX_TAGS);
export type FixedTags = Readonly<Record<string, string>>;

/** Returns the policy of a row's text; undefined if there is none or it cannot be read. */
export function readStoredTagPolicy(text: string | null | undefined): TagPolicy | undefined {
  return readStored(TagPolicy, text);
}

/** Returns the fixed tags of a row's text; undefined if there are none or they cannot be read. */
export function readStoredFixedTags(text: string | null | undefined): FixedTags | undefined {
  return readStored(FixedTags, text);
}

/** Returns the text for the readers above; null for an empty object. */
export function formatStoredTags(given: object): string | null {
  return Object.keys(given).length === 0 ? null : JSON.stringify(given);
}
