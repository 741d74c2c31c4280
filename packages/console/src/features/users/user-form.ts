import { characters, PASSWORD_MIN, type User } from "@fairway/wire";
import { toLimitsDraft, NO_LIMITS, wrongLimits, type LimitsDraft } from "../../lib/limits.ts";
import { hasWrongTagLimits, toTagLimitsText } from "../../shared/tag-limits/rows.ts";
import type { FormErrors } from "../../lib/use-form.ts";

export interface UserDraft extends LimitsDraft {
  readonly username: string;
  readonly display_name: string;
  readonly password: string;
  readonly group: string;
  /** Text of an amount in the display unit; "" or 0 leaves the balance alone. */
  readonly add: string;
  /** JSON: limits by values of tags; "" = none. */
  readonly tag_limits: string;
}

export const EMPTY_USER: UserDraft = {
  username: "",
  display_name: "",
  password: "",
  group: "default",
  add: "",
  tag_limits: "",
  ...NO_LIMITS,
};

export function toUserDraft(user: User): UserDraft {
  const { username, display_name, group, limits, tag_limits } = user;
  const texts = { username, display_name, group, tag_limits: toTagLimitsText(tag_limits) };
  return { ...EMPTY_USER, ...texts, ...toLimitsDraft(limits) };
}

/** Returns the quota units of a signed amount in units of `unit`; undefined if the text is not an amount. */
export function signedQuota(text: string, unit: number): number | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return 0;
  if (!/^[+-]?\d+(\.\d+)?$/.test(trimmed)) return undefined;
  const quota = Math.round(Number(trimmed) * unit);
  return Number.isSafeInteger(quota) ? quota : undefined;
}

type ErrorKey = "needsNameAndPassword" | "passwordShort" | "addQuotaInvalid" | "badLimit" | "badTagLimits";

/** Returns the keys of the error texts, by field. */
export function checkUser(values: UserDraft, isNew: boolean, unit: number): Partial<Record<keyof UserDraft, ErrorKey>> {
  const isBlank = values.username.trim() === "";
  const isMissing = isNew && values.password === "";
  const isShort = values.password !== "" && characters(values.password) < PASSWORD_MIN;
  return {
    ...(isBlank && { username: "needsNameAndPassword" as const }),
    ...(isMissing && { password: "needsNameAndPassword" as const }),
    ...(isShort && { password: "passwordShort" as const }),
    ...(signedQuota(values.add, unit) === undefined && { add: "addQuotaInvalid" as const }),
    ...(hasWrongTagLimits(values.tag_limits) && { tag_limits: "badTagLimits" as const }),
    ...Object.fromEntries(wrongLimits(values).map((name) => [name, "badLimit" as const])),
  };
}

export function translateErrors(
  errors: ReturnType<typeof checkUser>,
  t: (key: ErrorKey) => string,
): FormErrors<UserDraft> {
  return Object.fromEntries(Object.entries(errors).map(([field, key]) => [field, t(key)]));
}
