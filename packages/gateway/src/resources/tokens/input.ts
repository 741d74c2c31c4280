import {
  characters,
  formatStoredTags,
  formatTokenFallbacks,
  INITIAL_TOKEN,
  NEVER_EXPIRES,
  readTokenFallbacks,
  splitList,
  TOKEN_FIELD_NAMES,
  TOKEN_FIELDS,
  TOKEN_NAME_MAX,
  TOKEN_STATUS,
  type TokenColumns,
  type TokenFieldName,
  type TokenFieldWith,
  type TokenInput,
} from "@fairway/wire";
import { canChange } from "../../identity/accounts/roles.ts";
import type { Principal } from "../../identity/principal.ts";
import { allowListLines, parseNetwork } from "../../lib/net/ip.ts";
import { readLimitsField } from "../limits-field.ts";
import { Refusal } from "../../lib/refusal.ts";

/** The columns of a token that a form sets. If one that stays is absent, it does not change. */
export type TokenFields = Omit<TokenColumns, TokenFieldWith<"staysIfAbsent">> &
  Partial<Pick<TokenColumns, TokenFieldWith<"staysIfAbsent">>>;

/** Returns whether the owner of a token may use a group. */
type MayUse = (group: string) => boolean;

/** Checks of the gateway beyond those of the call, which return the stored value; other fields are stored as sent. */
const CHECKS: {
  readonly [F in TokenFieldName]?: (value: NonNullable<TokenInput[F]>, mayUse: MayUse) => TokenColumns[F];
} = {
  name: checkName,
  remain_quota: checkQuota,
  unlimited_quota: Number,
  expired_time: (time) => (time === 0 ? NEVER_EXPIRES : time),
  model_limits_enabled: Number,
  model_limits: (models) => splitList(models).join(","),
  allow_ips: allowIps,
  group: checkGroup,
  limits: (limits) => readLimitsField(limits),
  fallbacks: readFallbacksField,
  fixed_tags: formatStoredTags,
  tags: formatStoredTags,
  tag_limits: formatStoredTags,
};

/**
 * Returns the fields of a form with defaults for absent ones; throws `token_name_too_long`, `quota_invalid`,
 * `token_group_not_permitted`, `ip_range_invalid` and `invalid_field`.
 */
export function tokenFields(input: TokenInput, mayUse: MayUse): TokenFields {
  const checks = CHECKS as Readonly<Record<string, ((value: unknown, mayUse: MayUse) => unknown) | undefined>>;
  const stored = TOKEN_FIELD_NAMES.flatMap((name) => {
    const value = input[name];
    if (value === undefined) return "staysIfAbsent" in TOKEN_FIELDS[name] ? [] : [[name, INITIAL_TOKEN[name]] as const];
    const check = checks[name];
    return [[name, check ? check(value, mayUse) : value] as const];
  });
  return Object.fromEntries(stored) as unknown as TokenFields;
}

function checkName(name: string): string {
  if (characters(name) > TOKEN_NAME_MAX) throw new Refusal("token_name_too_long", { field: "name" });
  return name;
}

function checkQuota(quota: number): number {
  if (!Number.isSafeInteger(quota) || quota < 0) throw new Refusal("quota_invalid", { field: "remain_quota" });
  return quota;
}

function checkGroup(group: string, mayUse: MayUse): string {
  if (group !== "" && !mayUse(group))
    throw new Refusal("token_group_not_permitted", { field: "group", values: { g: group } });
  return group;
}

/** Returns the list as the row stores it; throws `invalid_field`. */
function readFallbacksField(text: string): string | null {
  const read = readTokenFallbacks(text);
  if ("fault" in read)
    throw new Refusal("invalid_field", { field: "fallbacks", values: { field: "fallbacks", reason: read.fault } });
  return read.value === "inherit" ? null : formatTokenFallbacks(read.value);
}

function allowIps(text: string): string {
  const lines = allowListLines(text);
  const wrong = lines.find((line) => parseNetwork(line) === undefined);
  if (wrong !== undefined) throw new Refusal("ip_range_invalid", { field: "allow_ips", values: { line: wrong } });
  return lines.join("\n");
}

interface Enabling {
  readonly status: number;
  readonly expired_time: number;
  readonly remain_quota: number;
  readonly unlimited: boolean;
}

/** Throws `token_expired` or `token_quota_used_up` if the relay would refuse the enabled token at once. */
export function checkEnabling(token: Enabling, now: number): void {
  const isOver = token.expired_time !== NEVER_EXPIRES && token.expired_time <= now;
  if (token.status === TOKEN_STATUS.expired && isOver) throw new Refusal("token_expired");
  if (token.status === TOKEN_STATUS.exhausted && token.remain_quota <= 0 && !token.unlimited)
    throw new Refusal("token_quota_used_up");
}

/** The user who disabled a token: an owner cannot enable what an administrator disabled. */
export type SwitchedBy = "owner" | "admin";

/**
 * Returns the role in which a caller changes a token. Owners who may manage themselves (super administrators) are not
 * restricted.
 */
export function resolveSwitcher(
  caller: Principal,
  owner: { readonly id: number; readonly role: number },
  status: number,
): SwitchedBy {
  if (owner.id !== caller.userId) return "admin";
  return status === TOKEN_STATUS.enabled && canChange(caller, owner) ? "admin" : "owner";
}

/** Throws `token_disabled_by_admin`. */
export function checkSwitch(isDisabledByAdmin: boolean, by: SwitchedBy, status: number): void {
  if (isDisabledByAdmin && by === "owner" && status === TOKEN_STATUS.enabled)
    throw new Refusal("token_disabled_by_admin");
}
