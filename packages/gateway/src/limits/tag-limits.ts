import {
  ANY_VALUE,
  END_USER_KEY,
  MAX_COUNTED_VALUES,
  OTHER_VALUE,
  parseTags,
  type TagLimit,
  type TagLimits,
} from "@fairway/wire";
import type { ManyValues } from "./claims.ts";

/** What a call names, with the lists of limits that concern it. */
export interface TaggedCall {
  /** `app=shop|env=prod`; "" = no tags. */
  readonly text: string;
  /** "" = none. */
  readonly endUser: string;
  readonly own: readonly { readonly owner: string; readonly limits: TagLimits }[];
}

/** The limits of one value in one list. */
export interface TagClaim {
  readonly scope: "tag" | "end_user";
  /** `t17/app=shop`, `u5/42`. */
  readonly subject: string;
  readonly limit: TagLimit;
  /** Set if only `*` names the value. */
  readonly oneOf?: ManyValues;
}

/** Returns the limits of the values that a call has; both those of its token and those of its account count. */
export function tagClaims({ text, endUser, own }: TaggedCall): readonly TagClaim[] {
  const found: TagClaim[] = [];
  const tags = parseTags(text);
  for (const { owner, limits } of own) {
    // A tag that is called like the end users' key has no limits: the key stands for them.
    for (const [key, value] of tags) if (key !== END_USER_KEY) add(found, limits, { scope: "tag", owner, key, value });
    if (endUser !== "") add(found, limits, { scope: "end_user", owner, key: END_USER_KEY, value: endUser });
  }
  return found;
}

interface Named {
  readonly scope: TagClaim["scope"];
  readonly owner: string;
  readonly key: string;
  readonly value: string;
}

function add(found: TagClaim[], limits: TagLimits, { scope, owner, key, value }: Named): void {
  const values = Object.hasOwn(limits, key) ? limits[key] : undefined;
  if (!values) return;
  const prefix = scope === "tag" ? `${owner}/${key}=` : `${owner}/`;
  const isNamed = value !== ANY_VALUE && Object.hasOwn(values, value);
  const limit = isNamed ? values[value] : Object.hasOwn(values, ANY_VALUE) ? values[ANY_VALUE] : undefined;
  if (!limit) return;
  const others = prefix + OTHER_VALUE;
  const claim = { scope, subject: prefix + value, limit };
  found.push(isNamed ? claim : { ...claim, oneOf: { list: `${owner}/${key}`, most: MAX_COUNTED_VALUES, others } });
}
