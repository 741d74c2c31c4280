import { isBlank, nearest } from "@fairway/wire";
import { isDeepStrictEqual } from "node:util";
import { isObject, parseObject, type JsonObject } from "../../lib/text/json.ts";
import type { SettingForm } from "../../providers/core/setting-form.ts";
import type { ProviderAdapter } from "../../providers/core/types.ts";
import { allProviders, providerByType } from "../../providers/registry.ts";

/** Members that every channel reads. */
const COMMON: Readonly<Record<string, SettingForm>> = {
  proxy: "address",
  headers: "object",
  limits: "object",
  key_limits: "object",
  multi_key_mode: ["random", "polling"],
  shared_ids: "texts",
  batches: "flag",
  files: "flag",
  files_scope: ["key", "channel"],
};

const takesBatches = ({ batches }: ProviderAdapter) => batches !== undefined;
const takesMarks = ({ cacheMarks }: ProviderAdapter) => cacheMarks !== undefined;

/** Members that depend on a vendor's protocol. */
const BY_PROTOCOL: Readonly<Record<string, { form: SettingForm; isRead: (provider: ProviderAdapter) => boolean }>> = {
  responses_mode: {
    form: ["always", "never"],
    isRead: ({ speaks }) => speaks.some(({ operation }) => operation === "responses"),
  },
  prompt_cache: { form: ["off", "auto", "always"], isRead: takesMarks },
  prompt_cache_ttl: { form: ["5m", "1h"], isRead: takesMarks },
  batch_max_open: { form: "count", isRead: takesBatches },
  batch_max_tokens: { form: "count", isRead: takesBatches },
  force_stream_option: { form: "flag", isRead: ({ streamUsage }) => streamUsage },
};

/** Every member that at least one type of channel reads. */
export const SETTING_MEMBERS: readonly string[] = [
  ...new Set([
    ...Object.keys(COMMON),
    ...Object.keys(BY_PROTOCOL),
    ...allProviders.flatMap(({ settings = {} }) => Object.keys(settings)),
  ]),
];

/** The setting of a stored channel: it may stay, even if it has no effect. */
export interface StoredSetting {
  readonly type: number;
  readonly setting: string | null | undefined;
}

export interface SettingFault {
  readonly member: string;
  readonly reason: string;
}

/**
 * Returns the first member of a setting that channels of the type do not read, or not in this form. Blank members pass,
 * because consoles of compatible gateways send every member they know; so do stored members that had no effect before.
 */
export function settingFault(setting: JsonObject, type: number, stored?: StoredSetting): SettingFault | undefined {
  const provider = providerByType(type);
  if (!provider) return undefined;
  const before = parseObject(stored?.setting ?? "") ?? {};
  for (const [member, value] of Object.entries(setting)) {
    const reason = isBlank(value) ? undefined : findSettingFault(provider, member, value);
    if (reason === undefined) continue;
    const isOld = stored !== undefined && isDeepStrictEqual(value, before[member]);
    if (!(isOld && wasIdle(stored.type, type, member, value))) return { member, reason };
  }
  return undefined;
}

/** Returns true if a member had no effect for the stored type and has none for the new one. */
function wasIdle(storedType: number, type: number, member: string, value: unknown): boolean {
  if (storedType === type) return true;
  const provider = providerByType(storedType);
  return provider !== undefined && findSettingFault(provider, member, value) !== undefined;
}

function findSettingFault(provider: ProviderAdapter, member: string, value: unknown): string | undefined {
  const form = findSettingForm(provider, member);
  if (form !== undefined) return findFormFault(form, value, provider);
  if (SETTING_MEMBERS.includes(member)) return "does nothing for channels of this type: leave it out";
  const near = nearest(member, SETTING_MEMBERS);
  return `is not a setting of this gateway: ${near === undefined ? "leave it out" : `did you mean ${near}?`}`;
}

function findSettingForm(provider: ProviderAdapter, member: string): SettingForm | undefined {
  const { settings = {} } = provider;
  if (Object.hasOwn(settings, member)) return settings[member];
  if (Object.hasOwn(COMMON, member)) return COMMON[member];
  const found = Object.hasOwn(BY_PROTOCOL, member) ? BY_PROTOCOL[member] : undefined;
  return found?.isRead(provider) === true ? found.form : undefined;
}

const SCHEMES = /^(?:https?|socks5?):$/;

type SimpleForm = Exclude<SettingForm, readonly string[] | "paths">;

const FORMS: Readonly<Record<SimpleForm, { isFit: (value: unknown) => boolean; words: string }>> = {
  flag: { isFit: (value) => typeof value === "boolean", words: "must be true or false" },
  count: { isFit: isCount, words: "must be a whole number of at least 1; leave it out for no limit" },
  text: { isFit: isText, words: "must be text" },
  texts: { isFit: (value) => isListWith(value, isText), words: "must be a list of texts" },
  objects: { isFit: (value) => isListWith(value, isObject), words: "must be a list of JSON objects" },
  object: { isFit: isObject, words: "must be a JSON object" },
  address: { isFit: isAddress, words: "must be an address such as http://proxy.example:3128" },
};

function findFormFault(form: SettingForm, value: unknown, provider: ProviderAdapter): string | undefined {
  if (typeof form !== "string") return form.some((one) => one === value) ? undefined : `must be ${form.join(" or ")}`;
  if (form === "paths") return findPathsFault(value, provider);
  const { isFit, words } = FORMS[form];
  return isFit(value) ? undefined : words;
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

function isCount(value: unknown): boolean {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0;
}

function isListWith(value: unknown, isWanted: (one: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isWanted);
}

function isAddress(value: unknown): boolean {
  const url = typeof value === "string" ? URL.parse(value) : null;
  return url !== null && SCHEMES.test(url.protocol) && url.hostname !== "";
}

function findPathsFault(value: unknown, { speaks }: ProviderAdapter): string | undefined {
  if (!isObject(value)) return "must be a JSON object of paths";
  const operations: readonly string[] = speaks.map(({ operation }) => operation);
  const wrong = Object.keys(value).find((name) => !operations.includes(name) || typeof value[name] !== "string");
  return wrong === undefined ? undefined : `must map operations to paths (${wrong.slice(0, 60)})`;
}
