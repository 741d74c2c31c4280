import { NEVER_EXPIRES, splitList, type TeamToken, type TokenInput } from "@fairway/wire";
import { fromLocalInput, toLocalInput } from "../../../lib/format.ts";

export interface KeyDraft {
  readonly name: string;
  readonly unlimited: boolean;
  /** Quota units; undefined while the text is not an amount. */
  readonly quota: number | undefined;
  /** Value of a `datetime-local` input; "" = never. */
  readonly expires: string;
  readonly group: string;
  /** Id of the service account that holds a new key; "0" = the person who makes it. */
  readonly holder: string;
  readonly models: readonly string[];
}

export function newKey(group: string): KeyDraft {
  return { name: "", unlimited: true, quota: 0, expires: "", group, holder: "0", models: [] };
}

export function toKeyDraft(token: TeamToken): KeyDraft {
  return {
    name: token.name,
    unlimited: token.unlimited_quota,
    quota: token.remain_quota,
    expires: token.expired_time === NEVER_EXPIRES ? "" : toLocalInput(token.expired_time),
    group: token.group,
    holder: String(token.service_account),
    models: token.model_limits_enabled ? splitList(token.model_limits) : [],
  };
}

/** Returns what to send; members that the form does not have stay as they were read. */
export function toKeyInput(draft: KeyDraft, earlier?: TeamToken): TokenInput {
  return {
    name: draft.name.trim(),
    unlimited_quota: draft.unlimited,
    remain_quota: draft.quota ?? 0,
    expired_time: draft.expires === "" ? NEVER_EXPIRES : (fromLocalInput(draft.expires) ?? NEVER_EXPIRES),
    group: draft.group,
    model_limits_enabled: draft.models.length > 0,
    model_limits: draft.models.join(","),
    ...(earlier && { allow_ips: earlier.allow_ips, limits: earlier.limits, fallbacks: earlier.fallbacks }),
  };
}
