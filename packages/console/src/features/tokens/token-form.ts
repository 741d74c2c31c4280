import {
  formatTokenFallbacks,
  listNearest,
  MAX_FALLBACKS,
  NEVER_EXPIRES,
  readTokenFallbacks,
  splitList,
  type FallbackEntry,
  type Token,
  type TokenBudget,
  type TokenInput,
} from "@fairway/wire";
import { fromLocalInput, toLocalInput } from "../../lib/format.ts";
import { toLimitsDraft, toLimits, NO_LIMITS, wrongLimits, type LimitsDraft } from "../../lib/limits.ts";
import { nowSeconds } from "../../lib/now.ts";
import { hasWrongTagLimits, toTagLimits, toTagLimitsText } from "../../shared/tag-limits/rows.ts";
import { hasWrongTags, NO_TAGS, toTags, toTagsDraft, type TagsDraft } from "./tags/tag-rows.ts";
import type { FormErrors } from "../../lib/use-form.ts";

/** The state of the drawer while a token is edited. */
export interface TokenDraft extends LimitsDraft, TagsDraft {
  name: string;
  /** Quota units; undefined while the text is not an amount. */
  remain_quota: number | undefined;
  unlimited_quota: boolean;
  /** The time in which the limit of a new token may be spent; "" = all its life. */
  limit_period: LimitPeriod;
  /** Value of a `datetime-local` input; "" = never. */
  expires: string;
  /** Text of the quantity; used on creation only. */
  count: string;
  group: string;
  model_limits_enabled: boolean;
  models: string[];
  /** Where the models to fall back to come from. */
  fallbacks: "inherit" | "off" | "own";
  fallback_models: string[];
  /** The list as it was read: the causes of its models stay. */
  fallback_entries: readonly FallbackEntry[];
  prompt_cache: CacheMode;
  /** JSON: limits by values of tags; "" = none. */
  tag_limits: string;
  allow_ips: string;
}

/** The times for which a form limits the spending of a new token. */
export const LIMIT_PERIODS = ["", "hour", "day", "week", "month", "quarter", "year"] as const satisfies readonly (
  | ""
  | TokenBudget["period"]
)[];
type LimitPeriod = (typeof LIMIT_PERIODS)[number];

/** When prompts get marks for the cache of a provider. */
export const CACHE_MODES = ["inherit", "off", "auto", "always"] as const;
export type CacheMode = (typeof CACHE_MODES)[number];

/** How many tokens one form creates: each needs its own call. */
export const BATCH_CAP = 100;

/** Spending limit of a new token: one dollar. */
const DEFAULT_QUOTA = 500_000;

export const EMPTY_TOKEN: TokenDraft = {
  name: "",
  remain_quota: DEFAULT_QUOTA,
  unlimited_quota: false,
  limit_period: "",
  expires: "",
  count: "1",
  group: "",
  model_limits_enabled: false,
  models: [],
  fallbacks: "inherit",
  fallback_models: [],
  fallback_entries: [],
  prompt_cache: "inherit",
  allow_ips: "",
  tag_limits: "",
  ...NO_TAGS,
  ...NO_LIMITS,
};

export function toTokenDraft(token: Token): TokenDraft {
  return {
    name: token.name,
    remain_quota: token.remain_quota,
    unlimited_quota: token.unlimited_quota,
    limit_period: "",
    expires: token.expired_time === NEVER_EXPIRES ? "" : toLocalInput(token.expired_time),
    count: "1",
    group: token.group,
    model_limits_enabled: token.model_limits_enabled,
    models: splitList(token.model_limits),
    ...toFallbackDraft(token.fallbacks),
    prompt_cache: CACHE_MODES.find((mode) => mode === token.prompt_cache) ?? "inherit",
    allow_ips: token.allow_ips,
    ...toTagsDraft(token),
    tag_limits: toTagLimitsText(token.tag_limits),
    ...toLimitsDraft(token.limits),
  };
}

type FallbackDraft = Pick<TokenDraft, "fallbacks" | "fallback_models" | "fallback_entries">;

function toFallbackDraft(text: string): FallbackDraft {
  const read = readTokenFallbacks(text);
  const value = "value" in read ? read.value : "off";
  if (typeof value === "string") return { fallbacks: value, fallback_models: [], fallback_entries: [] };
  return { fallbacks: "own", fallback_models: value.map(({ model }) => model), fallback_entries: value };
}

function toFallbacksText({ fallbacks, fallback_models: models, fallback_entries: entries }: FallbackDraft): string {
  if (fallbacks !== "own") return fallbacks;
  const find = (model: string) => entries.find((entry) => entry.model === model);
  return formatTokenFallbacks(models.map((model) => find(model) ?? { model, on: ["error"] }));
}

/** Returns the budget that is made with a new token; undefined if its limit is for all its life. */
export function toTokenBudget(form: TokenDraft): TokenBudget | undefined {
  const { limit_period: period, unlimited_quota: isUnlimited, remain_quota: amount = 0 } = form;
  return period === "" || isUnlimited ? undefined : { period, quota_limit: amount };
}

export function toTokenInput(form: TokenDraft): TokenInput {
  const isWindowed = toTokenBudget(form) !== undefined;
  return {
    name: form.name.trim(),
    remain_quota: isWindowed ? 0 : (form.remain_quota ?? 0),
    unlimited_quota: isWindowed || form.unlimited_quota,
    expired_time: form.expires === "" ? NEVER_EXPIRES : (fromLocalInput(form.expires) ?? NEVER_EXPIRES),
    group: form.group,
    model_limits_enabled: form.model_limits_enabled,
    model_limits: form.models.join(","),
    allow_ips: form.allow_ips,
    fallbacks: toFallbacksText(form),
    prompt_cache: form.prompt_cache,
    ...toTags(form),
    tag_limits: toTagLimits(form.tag_limits),
    limits: toLimits(form),
  };
}

type ProblemKey =
  | "nameMissing"
  | "badAmount"
  | "noAmount"
  | "badExpiryCreate"
  | "badExpiryUpdate"
  | "pastExpiry"
  | "badCount"
  | "badFallbacks"
  | "badTags"
  | "badTagLimits"
  | "badLimit";

function wrongExpiry(text: string, isNew: boolean): ProblemKey | undefined {
  if (text === "") return undefined;
  const at = fromLocalInput(text);
  if (at === undefined) return isNew ? "badExpiryCreate" : "badExpiryUpdate";
  // An expired token may still be edited.
  return isNew && at <= nowSeconds() ? "pastExpiry" : undefined;
}

function wrongAmount(form: TokenDraft): ProblemKey | undefined {
  if (form.unlimited_quota) return undefined;
  if (form.remain_quota === undefined) return "badAmount";
  return form.limit_period !== "" && form.remain_quota < 1 ? "noAmount" : undefined;
}

/** A model that nothing serves, with the names that it may mean. */
export interface UnservedModel {
  readonly name: string;
  readonly meant: readonly string[];
}

/** How many names are proposed for one that nothing serves. */
const MAX_MEANT = 3;

/** Returns the models of a limit that nothing serves for the owner; while `served` is unknown or empty, none. */
export function findUnserved(models: readonly string[], served: readonly string[]): UnservedModel[] {
  if (served.length === 0) return [];
  const known = new Set(served);
  const missing = models.filter((name) => !known.has(name) && !name.endsWith("*"));
  return missing.map((name) => ({ name, meant: listNearest(name, served).slice(0, MAX_MEANT) }));
}

function hasWrongFallbacks({ fallbacks, fallback_models: models }: TokenDraft): boolean {
  return fallbacks === "own" && (models.length === 0 || models.length > MAX_FALLBACKS);
}

/** Validates the form; problems are keys of this feature's texts. */
export function checkToken(form: TokenDraft, isNew: boolean): Partial<Record<keyof TokenDraft, ProblemKey>> {
  const count = Number(form.count);
  const expires = wrongExpiry(form.expires, isNew);
  const amount = wrongAmount(form);
  return {
    ...(isNew && form.name.trim() === "" && { name: "nameMissing" as const }),
    ...(amount !== undefined && { remain_quota: amount }),
    ...(expires !== undefined && { expires }),
    ...(hasWrongFallbacks(form) && { fallback_models: "badFallbacks" as const }),
    ...(isNew && !(Number.isInteger(count) && count > 0 && count <= BATCH_CAP) && { count: "badCount" as const }),
    ...(hasWrongTags(form) && { fixed_tags: "badTags" as const }),
    ...(hasWrongTagLimits(form.tag_limits) && { tag_limits: "badTagLimits" as const }),
    ...Object.fromEntries(wrongLimits(form).map((name) => [name, "badLimit" as const])),
  };
}

export function translateErrors(
  problems: Partial<Record<keyof TokenDraft, ProblemKey>>,
  t: (key: ProblemKey) => string,
): FormErrors<TokenDraft> {
  return Object.fromEntries(Object.entries(problems).map(([name, key]) => [name, t(key)]));
}
