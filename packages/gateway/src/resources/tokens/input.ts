import {
  characters,
  formatStoredTags,
  formatTokenFallbacks,
  NEVER_EXPIRES,
  readTokenFallbacks,
  splitList,
  TOKEN_NAME_MAX,
  TOKEN_STATUS,
  type TokenInput,
} from "@fairway/wire";
import { canChange } from "../../identity/accounts/roles.ts";
import type { Principal } from "../../identity/principal.ts";
import { withDefaults } from "../../lib/defaults.ts";
import { allowListLines, parseNetwork } from "../../lib/net/ip.ts";
import { readLimitsField } from "../limits-field.ts";
import { Refusal } from "../../lib/refusal.ts";

/** The columns of a token that a form can set. */
export interface TokenFields {
  readonly name: string;
  readonly remain_quota: number;
  readonly unlimited_quota: number;
  readonly expired_time: number;
  readonly model_limits_enabled: number;
  readonly model_limits: string;
  readonly allow_ips: string;
  readonly group: string;
  /** JSON; if absent, the limits do not change. */
  readonly limits?: string | null;
  /** If absent, they do not change. */
  readonly fallbacks?: string | null;
  /** If absent, they do not change. */
  readonly fixed_tags?: string | null;
  readonly tags?: string | null;
  /** If absent, the schedule does not change. */
  readonly rotate_days?: number;
  readonly rotate_grace_seconds?: number;
}

/**
 * Returns the fields of a form with defaults for absent ones; throws `token_name_too_long`, `quota_invalid`,
 * `token_group_not_permitted` and `ip_range_invalid`.
 * @param mayUse returns whether the owner may use a group
 */
export function tokenFields(input: TokenInput, mayUse: (group: string) => boolean): TokenFields {
  const { name, remain_quota, expired_time, model_limits, allow_ips, group } = withDefaults(DEFAULTS, input);
  if (characters(name) > TOKEN_NAME_MAX) throw new Refusal("token_name_too_long", { field: "name" });
  if (!Number.isSafeInteger(remain_quota) || remain_quota < 0)
    throw new Refusal("quota_invalid", { field: "remain_quota" });
  if (group !== "" && !mayUse(group))
    throw new Refusal("token_group_not_permitted", { field: "group", values: { g: group } });
  return {
    name,
    remain_quota,
    unlimited_quota: Number(input.unlimited_quota ?? false),
    expired_time: expired_time === 0 ? NEVER_EXPIRES : expired_time,
    model_limits_enabled: Number(input.model_limits_enabled ?? false),
    model_limits: splitList(model_limits).join(","),
    allow_ips: allowIps(allow_ips),
    group,
    ...(input.limits !== undefined && { limits: readLimitsField(input.limits) }),
    ...(input.fallbacks !== undefined && { fallbacks: readFallbacksField(input.fallbacks) }),
    ...readTags(input),
    ...readSchedule(input),
  };
}

const DEFAULTS = { name: "", remain_quota: 0, expired_time: 0, model_limits: "", allow_ips: "", group: "" };

function readTags({ fixed_tags: fixed, tags }: TokenInput) {
  return {
    ...(fixed !== undefined && { fixed_tags: formatStoredTags(fixed) }),
    ...(tags !== undefined && { tags: formatStoredTags(tags) }),
  };
}

function readSchedule({ rotate_days: days, rotate_grace_seconds: grace }: TokenInput) {
  return {
    ...(days !== undefined && { rotate_days: days }),
    ...(grace !== undefined && { rotate_grace_seconds: grace }),
  };
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
