import { isBlank, nearest } from "@fairway/wire";
import { isDeepStrictEqual } from "node:util";
import { isObject, parseObject, type JsonObject } from "../../lib/text/json.ts";
import type { ProviderAdapter, SettingForm } from "../../providers/core/types.ts";
import { allProviders, providerByType } from "../../providers/registry.ts";

/** Members that every channel reads. */
const COMMON: Readonly<Record<string, SettingForm>> = {
  proxy: "address",
  headers: "object",
  limits: "object",
  key_limits: "object",
  multi_key_mode: ["random", "polling"],
  shared_ids: "texts",
};

/** Those that follow from what a vendor speaks. */
const BY_PROTOCOL: Readonly<Record<string, { form: SettingForm; isRead: (provider: ProviderAdapter) => boolean }>> = {
  responses_mode: {
    form: ["always", "never"],
    isRead: ({ speaks }) => speaks.some(({ operation }) => operation === "responses"),
  },
  force_stream_option: { form: "flag", isRead: ({ streamUsage }) => streamUsage },
};

/** Every member that some type of channel reads. */
export const SETTING_MEMBERS: readonly string[] = [
  ...new Set([
    ...Object.keys(COMMON),
    ...Object.keys(BY_PROTOCOL),
    ...allProviders.flatMap(({ settings = {} }) => Object.keys(settings)),
  ]),
];

/** What a stored channel has: it may stay, although it does nothing. */
export interface StoredSetting {
  readonly type: number;
  readonly setting: string | null | undefined;
}

export interface SettingFault {
  readonly member: string;
  readonly reason: string;
}

/**
 * The first member of a setting that channels of the type do not read, or not in this form. Blank members pass, because
 * consoles of compatible gateways send all that they know; so do stored ones that did as little before.
 */
export function settingFault(setting: JsonObject, type: number, stored?: StoredSetting): SettingFault | undefined {
  const provider = providerByType(type);
  if (!provider) return undefined;
  const before = parseObject(stored?.setting ?? "") ?? {};
  for (const [member, value] of Object.entries(setting)) {
    const reason = isBlank(value) ? undefined : faultOf(provider, member, value);
    if (reason === undefined) continue;
    const wasIdle = stored?.type === type || isIdle(stored?.type, member, value);
    if (!(wasIdle && isDeepStrictEqual(value, before[member]))) return { member, reason };
  }
  return undefined;
}

function isIdle(type: number | undefined, member: string, value: unknown): boolean {
  const provider = type === undefined ? undefined : providerByType(type);
  return provider !== undefined && faultOf(provider, member, value) !== undefined;
}

function faultOf(provider: ProviderAdapter, member: string, value: unknown): string | undefined {
  const form = formOf(provider, member);
  if (form !== undefined) return faultOfForm(form, value, provider);
  if (SETTING_MEMBERS.includes(member)) return "does nothing for channels of this type: leave it out";
  const near = nearest(member, SETTING_MEMBERS);
  return `is no setting of this gateway: ${near === undefined ? "leave it out" : `did you mean ${near}?`}`;
}

function formOf(provider: ProviderAdapter, member: string): SettingForm | undefined {
  const { settings = {} } = provider;
  if (Object.hasOwn(settings, member)) return settings[member];
  if (Object.hasOwn(COMMON, member)) return COMMON[member];
  const found = Object.hasOwn(BY_PROTOCOL, member) ? BY_PROTOCOL[member] : undefined;
  return found?.isRead(provider) === true ? found.form : undefined;
}

const SCHEMES = /^(?:https?|socks5?):$/;

function faultOfForm(form: SettingForm, value: unknown, provider: ProviderAdapter): string | undefined {
  if (typeof form !== "string") return form.some((one) => one === value) ? undefined : `must be ${form.join(" or ")}`;
  switch (form) {
    case "flag":
      return typeof value === "boolean" ? undefined : "must be true or false";
    case "text":
      return typeof value === "string" ? undefined : "must be text";
    case "texts":
      return isListOf(value, (one) => typeof one === "string") ? undefined : "must be a list of texts";
    case "objects":
      return isListOf(value, isObject) ? undefined : "must be a list of JSON objects";
    case "object":
      return isObject(value) ? undefined : "must be a JSON object";
    case "address":
      return isAddress(value) ? undefined : "must be an address such as http://proxy.example:3128";
    case "paths":
      return faultOfPaths(value, provider);
  }
}

function isListOf(value: unknown, isWanted: (one: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isWanted);
}

function isAddress(value: unknown): boolean {
  const url = typeof value === "string" ? URL.parse(value) : null;
  return url !== null && SCHEMES.test(url.protocol) && url.hostname !== "";
}

function faultOfPaths(value: unknown, { speaks }: ProviderAdapter): string | undefined {
  if (!isObject(value)) return "must be a JSON object of paths";
  const operations: readonly string[] = speaks.map(({ operation }) => operation);
  const wrong = Object.keys(value).find((name) => !operations.includes(name) || typeof value[name] !== "string");
  return wrong === undefined ? undefined : `must map operations to paths (${wrong.slice(0, 60)})`;
}
