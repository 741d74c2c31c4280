import { characters, NEVER_EXPIRES, splitList, TOKEN_STATUS, type TokenInput } from "@fairway/wire";
import { withDefaults } from "../../lib/defaults.ts";
import { allowListLines, parseNetwork } from "../../lib/net/ip.ts";
import { readLimitsField } from "../limits-field.ts";
import { Refusal } from "../../lib/refusal.ts";

const NAME_LIMIT = 30;

/** What a form decides about a token, ready for its row. */
export interface TokenFields {
  readonly name: string;
  readonly remain_quota: number;
  readonly unlimited_quota: number;
  readonly expired_time: number;
  readonly model_limits_enabled: number;
  readonly model_limits: string;
  readonly allow_ips: string;
  readonly group: string;
  /** JSON; absent = as before. */
  readonly limits?: string | null;
}

/**
 * Fields of a form with defaults for what is absent; refuses with K1, U16, K5 and K6.
 * @param mayUse tells whether the owner may use a group
 */
export function tokenFields(input: TokenInput, mayUse: (group: string) => boolean): TokenFields {
  const { name, remain_quota, expired_time, model_limits, allow_ips, group } = withDefaults(DEFAULTS, input);
  if (characters(name) > NAME_LIMIT) throw new Refusal("K1", { field: "name" });
  if (!Number.isSafeInteger(remain_quota) || remain_quota < 0) throw new Refusal("U16", { field: "remain_quota" });
  if (group !== "" && !mayUse(group)) throw new Refusal("K5", { field: "group", values: { g: group } });
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
  };
}

const DEFAULTS = { name: "", remain_quota: 0, expired_time: 0, model_limits: "", allow_ips: "", group: "" };

function allowIps(text: string): string {
  const lines = allowListLines(text);
  const wrong = lines.find((line) => parseNetwork(line) === undefined);
  if (wrong !== undefined) throw new Refusal("K6", { field: "allow_ips", values: { line: wrong } });
  return lines.join("\n");
}

interface Enabling {
  readonly status: number;
  readonly expired_time: number;
  readonly remain_quota: number;
  readonly unlimited: boolean;
}

/** Refuses with K3 or K4 to enable a token that the relay would refuse at once. */
export function checkEnabling(token: Enabling, now: number): void {
  const isOver = token.expired_time !== NEVER_EXPIRES && token.expired_time <= now;
  if (token.status === TOKEN_STATUS.expired && isOver) throw new Refusal("K3");
  if (token.status === TOKEN_STATUS.exhausted && token.remain_quota <= 0 && !token.unlimited) throw new Refusal("K4");
}
