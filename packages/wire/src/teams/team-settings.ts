import * as z from "zod/mini";
import { LimitsSpec, storedLimits, type Limits } from "../core/limits.ts";
import { TagLimits } from "../core/tag-limits.ts";
import { TagPolicy } from "../core/tag-policy.ts";

const MAX_LISTED = 200;
const MAX_NAME = 191;
export const MAX_KEYS_PER_MEMBER = 1_000;
const MAX_KEY_DAYS = 3_650;

const names = z.array(z.string().check(z.minLength(1), z.maxLength(MAX_NAME))).check(z.maxLength(MAX_LISTED));

const members = {
  /** Groups that keys of the team may use, the first one by default; empty = the group of the team. */
  groups: z.optional(names),
  /** Models, or prefixes such as `gpt-*`; empty = all. */
  models: z.optional(names),
  /** Ids of channels; empty = all. */
  channels: z.optional(z.array(z.int().check(z.minimum(1))).check(z.maxLength(MAX_LISTED))),
  /** Limits of the whole team. */
  limits: LimitsSpec,
  /** Limits of one member over all keys that the member made. */
  member_limits: LimitsSpec,
  /** Who makes keys. */
  who_makes_keys: z.optional(z.enum(["members", "admins"])),
  /** Who reads keys in full. */
  keys_visible: z.optional(z.enum(["maker", "admins"])),
  max_keys_per_member: z.optional(z.int().check(z.minimum(0), z.maximum(MAX_KEYS_PER_MEMBER))),
  /** Most days that a new key works; 0 = no limit. */
  max_key_days: z.optional(z.int().check(z.minimum(0), z.maximum(MAX_KEY_DAYS))),
  /** What happens to the keys of a member who leaves. */
  on_leave: z.optional(z.enum(["disable", "transfer"])),
  /** Which tags of calls with keys of the team are stored; {} = as the operator decides. */
  tags: z.optional(TagPolicy),
  /** Limits of calls of the team by the value of a tag, or by the end user; {} = none. */
  tag_limits: z.optional(TagLimits),
};

/** Settings in a form; absent members stay as they are. */
export const TeamSettingsInput = z.strictObject(members);
export type TeamSettingsInput = z.output<typeof TeamSettingsInput>;

export interface TeamSettings {
  readonly groups: readonly string[];
  readonly models: readonly string[];
  readonly channels: readonly number[];
  readonly limits: Limits;
  readonly member_limits: Limits;
  readonly who_makes_keys: "members" | "admins";
  readonly keys_visible: "maker" | "admins";
  readonly max_keys_per_member: number;
  readonly max_key_days: number;
  readonly on_leave: "disable" | "transfer";
  readonly tags: TagPolicy;
  readonly tag_limits: TagLimits;
}

/** All settings of a team in an answer. */
export const TeamSettingsView = z.required(TeamSettingsInput);

export const DEFAULT_TEAM_SETTINGS: TeamSettings = Object.freeze({
  groups: [],
  models: [],
  channels: [],
  limits: {},
  member_limits: {},
  who_makes_keys: "members",
  keys_visible: "maker",
  max_keys_per_member: 20,
  max_key_days: 0,
  on_leave: "disable",
  tags: {},
  tag_limits: {},
});

/**
 * Returns the settings from the text of a row. Nothing may use a team whose text cannot be read: it would have more
 * rights than its owners gave it.
 */
export function readTeamSettings(text: string): TeamSettings | undefined {
  if (text === "") return DEFAULT_TEAM_SETTINGS;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const read = TeamSettingsInput.safeParse(value);
  return read.success ? withDefaults(read.data) : undefined;
}

/** Returns the settings of a form over the earlier ones. */
export function mergeTeamSettings(earlier: TeamSettings, input: TeamSettingsInput): TeamSettings {
  const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
  return { ...earlier, ...given };
}

/** Returns the text for `readTeamSettings`, with the members that differ from the defaults. */
export function formatTeamSettings(settings: TeamSettings): string {
  const defaults: Readonly<Record<string, unknown>> = { ...DEFAULT_TEAM_SETTINGS };
  const given = Object.entries(settings).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(defaults[name]),
  );
  return given.length === 0 ? "" : JSON.stringify(Object.fromEntries(given));
}

function withDefaults(input: TeamSettingsInput): TeamSettings {
  const { limits, member_limits, ...rest } = input;
  const merged = mergeTeamSettings(DEFAULT_TEAM_SETTINGS, rest);
  return { ...merged, limits: readLimits(limits), member_limits: readLimits(member_limits) };
}

function readLimits(limits: unknown): Limits {
  return limits === undefined ? {} : (storedLimits(JSON.stringify(limits)) ?? {});
}

/** Returns true if the list names the model or a prefix of it; an empty list names every model. */
export function isListedModel(models: readonly string[], model: string): boolean {
  return (
    models.length === 0 ||
    models.some((one) => (one.endsWith("*") ? model.startsWith(one.slice(0, -1)) : one === model))
  );
}
