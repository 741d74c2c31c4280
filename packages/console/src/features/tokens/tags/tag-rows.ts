import { isTagKey, normalizeTagValue, TagPolicy, type FixedTags, type TagRule } from "@fairway/wire";
import { parseObject } from "../../../lib/text/json.ts";
import type { FieldRow } from "../../../ui/form/rows/rows-field.tsx";

/** Tags of a token, as its form edits them. */
export interface TagsDraft {
  /** JSON: fixed tags by key; "" = none. */
  fixed_tags: string;
  /** JSON: the rules of the policy by key; "" = none. */
  tag_keys: string;
  /** Whether the end user of a call is stored; "" = as the team or the operator decides. */
  tag_users: "" | "client" | "off" | "required";
}

export const NO_TAGS: TagsDraft = { fixed_tags: "", tag_keys: "", tag_users: "" };

export function toTagsDraft(token: { readonly fixed_tags: FixedTags; readonly tags: TagPolicy }): TagsDraft {
  const { keys = {}, end_user: users = "" } = token.tags;
  return { fixed_tags: print(token.fixed_tags), tag_keys: print(keys), tag_users: users };
}

function print(value: object): string {
  return Object.keys(value).length === 0 ? "" : JSON.stringify(value);
}

/** Returns the members of a token for the form. */
export function toTags({ fixed_tags: fixed, tag_keys: keys, tag_users: users }: TagsDraft): {
  readonly fixed_tags: Record<string, string>;
  readonly tags: TagPolicy;
} {
  const entries = Object.entries(parseObject(fixed) ?? {});
  const rules = TagPolicy.safeParse({ keys: parseObject(keys) ?? {} });
  return {
    fixed_tags: Object.fromEntries(entries.map(([key, value]) => [key, String(value)])),
    tags: {
      ...(keys !== "" && rules.success && rules.data),
      ...(users !== "" && { end_user: users }),
    },
  };
}

/** True if the tags cannot be saved. */
export function hasWrongTags({ fixed_tags: fixed, tag_keys: keys }: TagsDraft): boolean {
  const entries = Object.entries(parseObject(fixed) ?? {});
  const isFixedWrong = entries.some(([key, value]) => !isTagKey(key) || !isValue(String(value)));
  return isFixedWrong || (keys !== "" && !TagPolicy.safeParse({ keys: parseObject(keys) ?? {} }).success);
}

function isValue(text: string): boolean {
  return normalizeTagValue(text) === text;
}

/** Returns the rows of a policy; undefined for what has no rows. */
export function policyRows(text: string): readonly FieldRow[] | undefined {
  const rules = Object.entries(parseObject(text) ?? {}) as [string, TagRule][];
  return rules.map(([key, { values = "any", strict, required, default: usual = "" }]) => ({
    key,
    values: Array.isArray(values) ? values.join(", ") : "",
    usual,
    strict: strict === true ? "true" : "",
    required: required === true ? "true" : "",
  }));
}

/** Rows without a key are still being typed. */
export function policyText(rows: readonly FieldRow[]): string {
  const rules = rows.flatMap(({ key = "", ...row }) => (key.trim() === "" ? [] : [[key.trim(), toRule(row)] as const]));
  return print(Object.fromEntries(rules));
}

function toRule({ values = "", usual = "", strict, required }: FieldRow): TagRule {
  const listed = values.split(",").flatMap((value) => (value.trim() === "" ? [] : [value.trim()]));
  return {
    ...(listed.length > 0 && { values: listed }),
    ...(usual.trim() !== "" && { default: usual.trim() }),
    ...(strict === "true" && { strict: true }),
    ...(required === "true" && { required: true }),
  };
}

/** Returns the columns of a row that cannot be saved. */
export function findPolicyFaults({ key = "", values = "", usual = "" }: FieldRow): readonly string[] {
  const listed = values.split(",").map((value) => value.trim());
  return [
    ...(key.trim() === "" ? (values + usual === "" ? [] : ["key"]) : isTagKey(key.trim()) ? [] : ["key"]),
    ...(listed.every((value) => value === "" || isValue(value)) ? [] : ["values"]),
    ...(usual.trim() === "" || isValue(usual.trim()) ? [] : ["usual"]),
  ];
}
