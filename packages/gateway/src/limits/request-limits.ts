import { readLimits, type Limits, type OptionValues } from "@fairway/wire";
import type { Claim, LimitScope } from "./claims.ts";
import { tagClaims, type TaggedCall } from "./tag-limits.ts";

/** The subjects of a request. */
export interface Subjects {
  readonly userId: number;
  /** 0 = none (playground). */
  readonly tokenId: number;
  /** The token's own limits. */
  readonly tokenLimits?: Limits | undefined;
  /** The user's own limits. */
  readonly userLimits?: Limits | undefined;
  /** The member of a team, as `TEAM:USER`, with the limits of the member. */
  readonly member?: { readonly subject: string; readonly limits: Limits } | undefined;
  /** Limits by values of tags, with what the call names; absent for calls without such limits. */
  readonly tagged?: TaggedCall | undefined;
  readonly group: string;
  readonly model: string;
  /** Upper estimate of prompt and answer. */
  readonly tokens: number;
}

type LimitOptions = Pick<
  OptionValues,
  "DefaultTokenLimits" | "DefaultUserLimits" | "GroupLimits" | "ModelLimits" | "TokenConcurrency" | "UserConcurrency"
>;

type CallOptions = Pick<
  OptionValues,
  | "ModelRequestRateLimitEnabled"
  | "ModelRequestRateLimitCount"
  | "ModelRequestRateLimitSuccessCount"
  | "ModelRequestRateLimitDurationMinutes"
>;

const NO_CLAIMS: readonly Claim[] = [];
const OTHERS = "*";

/** True if an option limits the requests of all callers; computed once per change of the options. */
export function limitsRequests(options: LimitOptions & CallOptions): boolean {
  const { DefaultTokenLimits, DefaultUserLimits, GroupLimits, ModelLimits, TokenConcurrency, UserConcurrency } =
    options;
  const tables = [DefaultTokenLimits, DefaultUserLimits, GroupLimits, ModelLimits];
  return (
    TokenConcurrency > 0 ||
    UserConcurrency > 0 ||
    callClaims(0, options).length > 0 ||
    tables.some((table) => Object.keys(table).length > 0)
  );
}

/** Model request limits per user, as set in the consoles of compatible gateways; no user is exempt. */
export function callClaims(userId: number, options: CallOptions): readonly Claim[] {
  const { ModelRequestRateLimitEnabled, ModelRequestRateLimitCount, ModelRequestRateLimitSuccessCount } = options;
  if (!ModelRequestRateLimitEnabled) return NO_CLAIMS;
  const claims: Claim[] = [];
  const base = {
    scope: "user",
    subject: String(userId),
    amount: 1,
    minutes: options.ModelRequestRateLimitDurationMinutes,
  } as const;
  if (ModelRequestRateLimitCount > 0) claims.push({ ...base, kind: "requests", limit: ModelRequestRateLimitCount });
  if (ModelRequestRateLimitSuccessCount > 0)
    claims.push({ ...base, kind: "successes", limit: ModelRequestRateLimitSuccessCount });
  return claims;
}

/** Returns the claims of the caller; channels have their own. */
export function requestClaims(subjects: Subjects, options: LimitOptions & CallOptions): readonly Claim[] {
  const { userId, tokenId, group, model, tokens } = subjects;
  const { DefaultTokenLimits, DefaultUserLimits, GroupLimits, ModelLimits } = options;
  const claims: Claim[] = [...callClaims(userId, options)];
  const add = (scope: LimitScope, subject: string, limits: Limits | undefined) =>
    void (limits && claims.push(...buildClaims(scope, subject, limits, tokens)));
  if (tokenId !== 0) {
    const defaults = withPlaces(DefaultTokenLimits, options.TokenConcurrency);
    add("token", String(tokenId), tighter(defaults, subjects.tokenLimits));
  }
  const ofUser = { ...withPlaces(DefaultUserLimits, options.UserConcurrency), ...subjects.userLimits };
  add("user", String(userId), ofUser);
  if (subjects.member) add("member", subjects.member.subject, subjects.member.limits);
  if (subjects.tagged)
    for (const { scope, subject, limit, oneOf } of tagClaims(subjects.tagged))
      for (const claim of buildClaims(scope, subject, limit, tokens)) claims.push(oneOf ? { ...claim, oneOf } : claim);
  claims.push(...groupClaims(group, GroupLimits, tokens));
  claims.push(...modelClaims(model, ModelLimits, tokens));
  return claims;
}

/** Returns the claims of one group; a request that continues in another group takes those as well. */
export function groupClaims(group: string, limits: LimitOptions["GroupLimits"], tokens: number): readonly Claim[] {
  const found = entry(limits, group);
  return found ? buildClaims("group", group, found, tokens) : NO_CLAIMS;
}

/** Returns the claims of one model; a request that falls back to another model takes those of that one. */
export function modelClaims(model: string, limits: LimitOptions["ModelLimits"], tokens: number): readonly Claim[] {
  const found = entry(limits, model);
  return found ? buildClaims("model", model, found, tokens) : NO_CLAIMS;
}

/** A channel with limits. */
export interface LimitedChannel {
  readonly id: number;
  readonly setting: Readonly<Record<string, unknown>>;
}

interface ChannelLimits {
  readonly channel: Limits | undefined;
  readonly key: Limits | undefined;
}

const ofChannels = new WeakMap<LimitedChannel, ChannelLimits | "none">();

/** Returns the members `limits` and `key_limits` of a channel's settings; undefined if it has neither. */
export function channelLimits(channel: LimitedChannel): ChannelLimits | undefined {
  let known = ofChannels.get(channel);
  if (known === undefined) {
    const read = { channel: readLimits(channel.setting["limits"]), key: readLimits(channel.setting["key_limits"]) };
    known = read.channel || read.key ? read : "none";
    ofChannels.set(channel, known);
  }
  return known === "none" ? undefined : known;
}

/** Returns the claims of a channel and of the key that serves. `tokens` is an upper estimate of prompt and answer. */
export function channelClaims(channel: LimitedChannel, keyIndex: number, tokens: number): readonly Claim[] {
  const limits = channelLimits(channel);
  if (!limits) return NO_CLAIMS;
  return [
    ...(limits.channel ? buildClaims("channel", String(channel.id), limits.channel, tokens) : []),
    ...(limits.key ? buildClaims("key", `${channel.id}.${keyIndex}`, limits.key, tokens) : []),
  ];
}

/** The members of `Limits` as a schema reads them. */
type ReadLimits = { readonly [K in keyof Limits]: Limits[K] | undefined };

function buildClaims(
  scope: LimitScope,
  subject: string,
  { rpm, tpm, concurrency }: ReadLimits,
  tokens: number,
): Claim[] {
  const claims: Claim[] = [];
  if (rpm !== undefined) claims.push({ scope, subject, kind: "requests", limit: rpm, amount: 1 });
  if (tpm !== undefined) claims.push({ scope, subject, kind: "tokens", limit: tpm, amount: Math.min(tokens, tpm) });
  if (concurrency !== undefined) claims.push({ scope, subject, kind: "concurrency", limit: concurrency, amount: 1 });
  return claims;
}

function entry(table: Readonly<Record<string, Limits>>, name: string): Limits | undefined {
  return table[name] ?? table[OTHERS];
}

/** The older options apply if the newer ones are not set. */
function withPlaces(limits: Limits, places: number): Limits {
  return places === 0 || limits.concurrency !== undefined ? limits : { ...limits, concurrency: places };
}

/** Owners set the limits of their tokens, within those that are set for all. */
function tighter(one: Limits, other: Limits | undefined): Limits {
  if (!other) return one;
  const limits: { -readonly [K in keyof Limits]: Limits[K] } = { ...one };
  for (const name of ["rpm", "tpm", "concurrency"] as const) {
    const least = Math.min(one[name] ?? Infinity, other[name] ?? Infinity);
    if (least !== Infinity) limits[name] = least;
  }
  return limits;
}
