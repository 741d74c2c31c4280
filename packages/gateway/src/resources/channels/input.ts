import {
  CHANNEL_FIELD_NAMES,
  CHANNEL_FIELDS,
  CHANNEL_STATUS,
  characters,
  fill,
  GROUP_NAME_MAX,
  MODEL_NAME_MAX,
  REASONS,
  splitList,
  type ChannelColumns,
  type ChannelFieldName,
  type ChannelInput,
} from "@fairway/wire";
import { withDefaults } from "../../lib/defaults.ts";
import { parseObject } from "../../lib/text/json.ts";
import { Refusal } from "../../lib/refusal.ts";
import { isModelName } from "../../dialects/core/request-spec.ts";
import { providerByType } from "../../providers/registry.ts";
import { mapModel } from "../../snapshot/model-mapping.ts";
import { listedName } from "../../billing/pricing/listed-name.ts";
import { statusPair } from "../../snapshot/channel-record.ts";
import type { SecretColumn } from "../../storage/secrets/channel-texts.ts";
import { checkKeys, isInHeaders } from "./key-text.ts";
import type { StoredSetting } from "./setting-members.ts";
import { checkHeaderText, checkParamOverride, checkSetting, invalid, withSecrets } from "./text-fields.ts";

const GROUPS_MAX = CHANNEL_FIELDS.group.most;
/** Maximum length of all keys of a channel together, in the form and in the call. */
const KEY_TEXT_LIMIT = 512 * 1024;

/** The columns of a channel that a form sets. */
export type ChannelFields = ChannelColumns;

/** The texts of a stored channel whose secrets a form may send as hints. */
export type StoredTexts = Pick<ChannelFields, "type" | SecretColumn>;

/** Returns true if a channel type exists. */
export type TypeCheck = (type: number) => boolean;

/**
 * Returns the fields of a new channel with their defaults; throws the refusals of channel fields or `invalid_field`.
 * Hints represent secrets of `source`, the channel that the new one is copied from.
 */
export function newFields(input: ChannelInput, isType: TypeCheck, source?: StoredTexts): ChannelFields {
  const form = withDefaults(DEFAULTS, withSecrets(input, source));
  if (form.name.trim() === "") throw new Refusal("channel_name_or_key_missing", { field: "name" });
  const type = checkType(form.type, isType);
  const group = joinGroups(input) ?? DEFAULTS.group;
  return storedFields({ ...form, group, status: newStatus(input.status) }, { type, stored: source }) as ChannelFields;
}

const DEFAULTS = Object.fromEntries(CHANNEL_FIELD_NAMES.map((name) => [name, CHANNEL_FIELDS[name].initial])) as {
  readonly [F in ChannelFieldName]: NonNullable<ChannelFields[F]>;
};

/**
 * Returns the fields that a form changes; absent members, and secrets sent as their hint, stay as they are in
 * `current`.
 */
export function changedFields(
  sent: ChannelInput,
  current: { readonly type: number; readonly status: number; readonly other: string } & Partial<StoredTexts>,
  isType: TypeCheck,
): Partial<ChannelFields> {
  const input = withSecrets(sent, current);
  const type = input.type === undefined ? current.type : checkType(input.type, isType);
  const isOtherType = type !== current.type;
  const changed: ChannelInput = {
    ...input,
    name: input.name?.trim() === "" ? undefined : input.name,
    group: joinGroups(input),
    status: input.status === undefined ? undefined : checkStatus(input.status, current.status),
    // What a field may say depends on the type, so a new type checks the stored text again.
    other: input.other ?? (isOtherType ? current.other : undefined),
    setting: input.setting ?? (isOtherType ? (current.setting ?? undefined) : undefined),
  };
  return storedFields(changed, { type, stored: { type: current.type, setting: current.setting } });
}

interface CheckPlace {
  readonly type: number;
  /** The setting of the channel that is changed or copied. */
  readonly stored: StoredSetting | undefined;
}

/** Checks of the gateway beyond those of the call; the other fields are stored as they were sent. */
const CHECKS: {
  readonly [F in ChannelFieldName]?: (value: NonNullable<ChannelFields[F]>, place: CheckPlace) => ChannelFields[F];
} = {
  name: (name) => name.trim(),
  models: checkModels,
  group: checkGroup,
  base_url: checkBaseUrl,
  other: (other, { type }) => checkOther(type, other),
  openai_organization: checkOrganization,
  test_model: (model) => model.trim(),
  model_mapping: checkModelMapping,
  status_code_mapping: checkStatusMapping,
  weight: (weight) => Math.max(0, weight),
  tag: checkTag,
  setting: (text, { type, stored }) => checkSetting(text, type, stored),
  param_override: checkParamOverride,
  header_override: checkHeaderText,
};

/** Checks the fields that a form has, in the order of their table, and returns them as they are stored. */
function storedFields(form: ChannelInput, place: CheckPlace): Partial<ChannelFields> {
  const checks = CHECKS as Readonly<Record<string, ((value: unknown, place: CheckPlace) => unknown) | undefined>>;
  const sent = CHANNEL_FIELD_NAMES.filter((name) => form[name] !== undefined);
  const stored = sent.map((name) => {
    const [check, value] = [checks[name], form[name]];
    return [name, check ? check(value, place) : value] as const;
  });
  return Object.fromEntries(stored) as Partial<ChannelFields>;
}

/**
 * Returns the keys of a form, one per channel to create. Each line is a channel, except for service accounts, which
 * span several lines, and for a form that creates one channel with many keys.
 */
export function splitKeys(key: string, type: number, areOneChannel: boolean): string[] {
  const whole = key.trim();
  if (whole === "") return [];
  if (hasKeyFile(type) || parseObject(whole) !== undefined) return [whole];
  const lines = keyLines(whole);
  checkKeys(lines);
  return areOneChannel ? [lines.join("\n")] : lines;
}

function hasKeyFile(type: number): boolean {
  return providerByType(type)?.hasKeyFile === true;
}

/** Returns one key per line, trimmed, without blank lines. */
export function keyLines(key: string): string[] {
  return key
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

/** Returns the key in the form in which it is stored when a form replaces it. */
export function storedKey(key: string, type: number): string | undefined {
  return splitKeys(key, type, true)[0];
}

/**
 * Appends the new keys to the stored ones, which stay in place. Throws `invalid_field` if the channel can only have one
 * key.
 */
export function withMoreKeys(stored: string, added: string, type: number): string {
  const isWhole = hasKeyFile(type) || parseObject(stored) !== undefined || parseObject(added) !== undefined;
  if (isWhole) throw invalid("key_mode", 'must be "replace": key files cannot be combined');
  const lines = keyLines(stored);
  const known = new Set(lines);
  const more = [...new Set(keyLines(added))].filter((key) => !known.has(key));
  const keys = [...lines, ...more].join("\n");
  if (keys.length > KEY_TEXT_LIMIT) throw tooLong("key", KEY_TEXT_LIMIT);
  return keys;
}

export function checkModels(text: string): string {
  const models = splitList(text);
  if (models.length === 0) throw new Refusal("channel_models_missing", { field: "models" });
  const long = models.find((model) => characters(model) > MODEL_NAME_MAX);
  if (long !== undefined) throw new Refusal("model_name_too_long", { field: "models", values: { model: long } });
  for (const model of models) checkName("models", model);
  const pattern = models.find((model) => model.includes("*") && !isSeries(model));
  if (pattern !== undefined) throw invalid("models", `must name each model (${pattern.slice(0, 60)})`);
  const unreadable = models.find((model) => !isModelName(model));
  if (unreadable !== undefined)
    throw invalid("models", `must not have a name with \\, ?, # or .. (${unreadable.slice(0, 60)})`);
  return models.join(",");
}

function joinGroups({ group, groups }: ChannelInput): string | undefined {
  return group ?? groups?.join(",");
}

/** Returns true for a series, listed with a star, where clients choose the last part of the name. */
function isSeries(model: string): boolean {
  return listedName(`${model.slice(0, -1)}x`) === model;
}

/** Lists are separated by plain commas; a name with another kind of comma is really two names. */
const OTHER_COMMAS = /[，、；]/;

function checkName(field: string, name: string): void {
  if (OTHER_COMMAS.test(name)) throw invalid(field, `must be separated by plain commas (${name.slice(0, 60)})`);
}

/** Checks the organization, which is sent as a header. */
function checkOrganization(text: string): string {
  const organization = text.trim();
  if (!isInHeaders(organization)) throw invalid("openai_organization", "has a sign that no header can carry");
  return organization;
}

export function checkGroup(text: string): string {
  const groups = splitList(text);
  for (const group of groups) checkName("group", group);
  if (groups.some((group) => characters(group) > GROUP_NAME_MAX)) throw tooLong("group", GROUP_NAME_MAX);
  const joined = groups.length === 0 ? "default" : groups.join(",");
  if (joined.length > GROUPS_MAX) throw tooLong("group", GROUPS_MAX);
  return joined;
}

/** Refuses mappings that no request could follow. */
export function checkModelMapping(text: string): string {
  const trimmed = text.trim();
  if (trimmed === "") return "";
  const mapping = parseObject(trimmed);
  const pairs = Object.entries(mapping ?? {});
  if (!mapping || pairs.some(([, target]) => typeof target !== "string"))
    throw new Refusal("model_mapping_invalid", { field: "model_mapping" });
  const names = new Map(pairs as [string, string][]);
  for (const [name, target] of names) {
    if (name.trim() === "" || target.trim() === "")
      throw invalid("model_mapping", `must name a model on both sides ("${name.slice(0, 60)}")`);
  }
  for (const name of names.keys()) checkEnds(names, name);
  return trimmed;
}

/** Throws `model_mapping_circular` with the names of a circular mapping. */
function checkEnds(mapping: ReadonlyMap<string, string>, model: string): void {
  try {
    mapModel(mapping, model);
  } catch (cause) {
    const path = [model];
    for (let next = mapping.get(model); next !== undefined; next = mapping.get(next)) {
      path.push(next);
      if (path.indexOf(next) < path.length - 1) break;
    }
    throw new Refusal("model_mapping_circular", {
      field: "model_mapping",
      values: { path: path.slice(0, 12).join(" → ") },
      cause,
    });
  }
}

function checkStatusMapping(text: string): string {
  const trimmed = text.trim();
  if (trimmed === "") return "";
  const mapping = parseObject(trimmed);
  if (!mapping) throw new Refusal("status_mapping_invalid", { field: "status_code_mapping" });
  const wrong = Object.entries(mapping).find(([from, to]) => statusPair(from, to) === undefined);
  if (wrong)
    throw invalid("status_code_mapping", `must map statuses to statuses from 400 to 599 (${wrong[0].slice(0, 20)})`);
  return trimmed;
}

function checkType(type: number, isType: TypeCheck): number {
  if (!isType(type)) throw new Refusal("channel_type_unknown", { field: "type" });
  return type;
}

function newStatus(status: number | undefined): number {
  if (status === undefined || status === CHANNEL_STATUS.disabledBySystem) return CHANNEL_STATUS.enabled;
  return checkStatus(status, CHANNEL_STATUS.enabled);
}

function checkStatus(status: number, current: number): number {
  const isSettable = status === CHANNEL_STATUS.enabled || status === CHANNEL_STATUS.disabledByHand;
  if (!isSettable && status !== current) throw new Refusal("status_not_settable", { field: "status" });
  return status;
}

const SCHEMES = new Set(["http:", "https:", "ws:", "wss:"]);
/** Matches an address where a model's name could become any server. */
const OPEN_HOST = /^[^/]*\/\/[^/?#]*\}(?::\d*)?(?:[/?#]|$)/;
const REGION = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** Checks an address, or a single word: some types know a plan by its name. */
function checkBaseUrl(text: string): string {
  const base = text.trim().replace(/\/$/, "");
  if (/^[\w-]*$/.test(base)) return base;
  const isAddress = URL.canParse(base) && SCHEMES.has(new URL(base).protocol);
  if (!isAddress) throw invalid("base_url", "must be an address that begins with https:// or http://");
  if (OPEN_HOST.test(base)) throw invalid("base_url", "must not end its host with a placeholder");
  return base;
}

/** Checks the free field: an API version, a plug-in version or regions, depending on the type. */
function checkOther(type: number, text: string): string {
  const other = text.trim();
  const provider = providerByType(type);
  if (provider?.hasRegions) return checkRegions(other);
  return other === "" ? (provider?.otherDefault ?? "") : other;
}

function checkRegions(other: string): string {
  if (other === "") throw new Refusal("region_missing", { field: "other" });
  const regions = parseObject(other);
  if (regions && !Object.hasOwn(regions, "default")) throw new Refusal("region_default_missing", { field: "other" });
  for (const region of regions ? Object.values(regions) : [other])
    if (typeof region !== "string" || !REGION.test(region))
      throw invalid("other", "must be a region such as us-central1");
  return other;
}

function checkTag(text: string): string | null {
  const tag = text.trim();
  return tag === "" ? null : tag;
}

function tooLong(field: string, most: number): Refusal {
  return invalid(field, fill(REASONS.tooLong, { n: most }));
}
