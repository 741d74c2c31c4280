import type { OptionType, Reading } from "./option-kinds.ts";
import { isObject, parseJson } from "./read-json.ts";

/** What one user of a group may store; an absent member leaves the general option in force. */
export interface FileQuota {
  readonly megabytes?: number;
  readonly count?: number;
}

function broken(rule: string): Reading<never> {
  return { isValid: false, messageKey: "option_value_invalid", rule };
}

const QUOTA_MEMBERS: readonly string[] = ["megabytes", "count"];
const QUOTA_RULE = 'limits by group such as {"vip":{"megabytes":20480,"count":500}}';

function isQuota(value: unknown): value is FileQuota {
  return (
    isObject(value) &&
    Object.entries(value).every(
      ([name, amount]) => QUOTA_MEMBERS.includes(name) && Number.isSafeInteger(amount) && Number(amount) >= 0,
    )
  );
}

/** JSON object of quotas by the name of a group. */
export const fileQuotasType: OptionType<Readonly<Record<string, FileQuota>>> = {
  kind: "json",
  read: (text) => {
    const parsed = parseJson(text);
    if (!isObject(parsed)) return { isValid: false, messageKey: "option_json_invalid" };
    const quotas = Object.create(null) as Record<string, FileQuota>;
    for (const [group, quota] of Object.entries(parsed)) {
      if (!isQuota(quota)) return broken(QUOTA_RULE);
      quotas[group] = quota;
    }
    return { isValid: true, value: quotas, text };
  },
};

const CHANNELS_RULE = 'lists of channel ids or tags by group such as {"default":[7,"files"]}';

/** JSON object of channels by the name of a group; a channel is named by its id or by its tag. */
export const fileChannelsType: OptionType<Readonly<Record<string, readonly (number | string)[]>>> = {
  kind: "json",
  read: (text) => {
    const parsed = parseJson(text);
    if (!isObject(parsed)) return { isValid: false, messageKey: "option_json_invalid" };
    const channels = Object.create(null) as Record<string, readonly (number | string)[]>;
    for (const [group, list] of Object.entries(parsed)) {
      if (!Array.isArray(list) || !list.every(isChannelName)) return broken(CHANNELS_RULE);
      channels[group] = list;
    }
    return { isValid: true, value: channels, text };
  },
};

function isChannelName(value: unknown): value is number | string {
  return typeof value === "string" ? value.trim() !== "" : Number.isSafeInteger(value);
}
