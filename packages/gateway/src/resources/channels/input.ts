import { CHANNEL_STATUS, characters, fill, REASONS, splitList, type ChannelInput } from "@fairway/wire";
import { withDefaults } from "../../lib/defaults.ts";
import { parseObject } from "../../lib/text/json.ts";
import { Refusal } from "../../lib/refusal.ts";
import { isModelName } from "../../dialects/core/request-spec.ts";
import { providerByType } from "../../providers/registry.ts";
import { mapModel } from "../../snapshot/model-mapping.ts";
import { listedName } from "../../billing/pricing/listed-name.ts";
import { statusPair } from "../../snapshot/channel-record.ts";
import { checkKeys, isInHeaders } from "./key-text.ts";
import { checkHeaderText, checkParamOverride, checkSetting, invalid, withSecrets } from "./text-fields.ts";

const MODEL_NAME_LIMIT = 255;
const GROUP_NAME_LIMIT = 64;
const GROUPS_LIMIT = 255;
/** Maximum length of all keys of a channel together, in the form and in the call. */
const KEY_TEXT_LIMIT = 512 * 1024;

/** The columns of a channel that a form sets. */
export interface ChannelFields {
  readonly type: number;
  readonly name: string;
  readonly status: number;
  readonly models: string;
  readonly group: string;
  readonly base_url: string;
  readonly other: string;
  readonly openai_organization: string;
  readonly test_model: string;
  readonly model_mapping: string;
  readonly status_code_mapping: string;
  readonly max_input_tokens: number;
  readonly cost_ratio: number;
  readonly auto_ban: number;
  readonly priority: number;
  readonly weight: number;
  readonly tag: string | null;
  readonly setting: string | null;
  readonly param_override: string | null;
  readonly header_override: string | null;
}

/** The texts of a stored channel whose secrets a form may send as hints. */
export type StoredTexts = Pick<ChannelFields, "type" | "setting" | "param_override" | "header_override">;

/** Returns true if a channel type exists. */
export type TypeCheck = (type: number) => boolean;

/**
 * Returns the fields of a new channel with their defaults; throws the refusals of channel fields or `invalid_field`.
 * Hints represent secrets of `source`, the channel that the new one is copied from.
 */
export function newFields(input: ChannelInput, isType: TypeCheck, source?: StoredTexts): ChannelFields {
  const form = withDefaults(DEFAULTS, withSecrets(input, source));
  const name = form.name.trim();
  if (name === "") throw new Refusal("channel_name_or_key_missing", { field: "name" });
  const type = checkType(form.type, isType);
  return {
    type,
    name,
    status: newStatus(input.status),
    models: checkModels(form.models),
    group: checkGroup(joinGroups(input) ?? ""),
    base_url: checkBaseUrl(form.base_url),
    other: checkOther(type, form.other),
    openai_organization: checkOrganization(form.openai_organization),
    test_model: form.test_model.trim(),
    model_mapping: checkModelMapping(form.model_mapping),
    status_code_mapping: checkStatusMapping(form.status_code_mapping),
    max_input_tokens: form.max_input_tokens,
    cost_ratio: form.cost_ratio,
    auto_ban: form.auto_ban,
    priority: form.priority,
    weight: Math.max(0, form.weight),
    tag: checkTag(form.tag),
    setting: checkSetting(form.setting, type, source),
    param_override: checkParamOverride(form.param_override),
    header_override: checkHeaderText(form.header_override),
  };
}

const DEFAULTS = {
  type: 1,
  name: "",
  models: "",
  base_url: "",
  other: "",
  openai_organization: "",
  test_model: "",
  model_mapping: "",
  status_code_mapping: "",
  max_input_tokens: 0,
  cost_ratio: 1,
  auto_ban: 1,
  priority: 0,
  weight: 0,
  tag: "",
  setting: "",
  param_override: "",
  header_override: "",
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
  const needsOther = input.other !== undefined || type !== current.type;
  return dropAbsent({
    type: input.type,
    name: input.name === undefined || input.name.trim() === "" ? undefined : input.name.trim(),
    status: input.status === undefined ? undefined : checkStatus(input.status, current.status),
    models: mapPresent(input.models, checkModels),
    group: mapPresent(joinGroups(input), checkGroup),
    base_url: mapPresent(input.base_url, checkBaseUrl),
    other: needsOther ? checkOther(type, input.other ?? current.other) : undefined,
    openai_organization: mapPresent(input.openai_organization, checkOrganization),
    test_model: input.test_model?.trim(),
    model_mapping: mapPresent(input.model_mapping, checkModelMapping),
    status_code_mapping: mapPresent(input.status_code_mapping, checkStatusMapping),
    max_input_tokens: input.max_input_tokens,
    cost_ratio: input.cost_ratio,
    auto_ban: input.auto_ban,
    priority: input.priority,
    weight: mapPresent(input.weight, (weight) => Math.max(0, weight)),
    tag: mapPresent(input.tag, checkTag),
    setting: mapPresent(input.setting ?? (type === current.type ? undefined : (current.setting ?? undefined)), (text) =>
      checkSetting(text, type, { type: current.type, setting: current.setting }),
    ),
    param_override: mapPresent(input.param_override, checkParamOverride),
    header_override: mapPresent(input.header_override, checkHeaderText),
  });
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
  const long = models.find((model) => characters(model) > MODEL_NAME_LIMIT);
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
  if (groups.some((group) => characters(group) > GROUP_NAME_LIMIT)) throw tooLong("group", GROUP_NAME_LIMIT);
  const joined = groups.length === 0 ? "default" : groups.join(",");
  if (joined.length > GROUPS_LIMIT) throw tooLong("group", GROUPS_LIMIT);
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

function mapPresent<In, Out>(value: In | undefined, check: (value: In) => Out): Out | undefined {
  return value === undefined ? undefined : check(value);
}

/** Returns a copy without undefined members, so that an update sets changed columns only. */
function dropAbsent(fields: {
  readonly [F in keyof ChannelFields]: ChannelFields[F] | undefined;
}): Partial<ChannelFields> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Partial<ChannelFields>;
}
