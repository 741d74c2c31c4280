import { MAX_KEYS_PER_MEMBER, type TeamView } from "@fairway/wire";
import { NO_LIMITS, toLimits, toLimitsDraft, wrongLimits, type LimitsDraft } from "../../../lib/limits.ts";
import { hasWrongTagLimits, toTagLimits, toTagLimitsText } from "../../../shared/tag-limits/rows.ts";
import type { TeamChange } from "../api.ts";
import { parseLabels, printLabels } from "../labels.ts";
import type { TeamRights } from "../../../shared/teams/rights.ts";

export interface SettingsDraft {
  readonly name: string;
  readonly description: string;
  readonly labels: string;
  readonly who_makes_keys: "members" | "admins";
  readonly keys_visible: "maker" | "admins";
  readonly max_keys_per_member: string;
  readonly max_key_days: string;
  readonly on_leave: "disable" | "transfer";
  /** Group of the wallet. */
  readonly group: string;
  readonly groups: readonly string[];
  readonly models: readonly string[];
  readonly channels: readonly string[];
  readonly limits: LimitsDraft;
  readonly member_limits: LimitsDraft;
  /** JSON: limits by values of tags; "" = none. */
  readonly tag_limits: string;
}

export function toSettingsDraft(team: TeamView): SettingsDraft {
  const { settings } = team;
  return {
    name: team.name,
    description: team.description,
    labels: printLabels(team.labels),
    who_makes_keys: settings.who_makes_keys,
    keys_visible: settings.keys_visible,
    max_keys_per_member: String(settings.max_keys_per_member),
    max_key_days: String(settings.max_key_days),
    on_leave: settings.on_leave,
    group: team.group,
    groups: settings.groups,
    models: settings.models,
    channels: settings.channels.map(String),
    limits: { ...NO_LIMITS, ...toLimitsDraft(settings.limits) },
    member_limits: { ...NO_LIMITS, ...toLimitsDraft(settings.member_limits) },
    tag_limits: toTagLimitsText(settings.tag_limits),
  };
}

type ProblemKey = "nameMissing" | "badLabels" | "badCount" | "badLimits" | "badTagLimits" | "badChannels";
export type SettingsProblems = Partial<Record<keyof SettingsDraft, ProblemKey>>;

const MAX_KEY_DAYS = 3_650;

function isCount(text: string, most: number): boolean {
  return /^\d{1,6}$/.test(text.trim()) && Number(text) <= most;
}

export function checkSettings(draft: SettingsDraft): SettingsProblems {
  return {
    ...(draft.name.trim() === "" && { name: "nameMissing" as const }),
    ...(parseLabels(draft.labels) === undefined && { labels: "badLabels" as const }),
    ...(!isCount(draft.max_keys_per_member, MAX_KEYS_PER_MEMBER) && { max_keys_per_member: "badCount" as const }),
    ...(!isCount(draft.max_key_days, MAX_KEY_DAYS) && { max_key_days: "badCount" as const }),
    ...(draft.channels.some((id) => !/^[1-9]\d{0,9}$/.test(id)) && { channels: "badChannels" as const }),
    ...(wrongLimits(draft.limits).length > 0 && { limits: "badLimits" as const }),
    ...(wrongLimits(draft.member_limits).length > 0 && { member_limits: "badLimits" as const }),
    ...(hasWrongTagLimits(draft.tag_limits) && { tag_limits: "badTagLimits" as const }),
  };
}

function toSettings(draft: SettingsDraft) {
  return {
    who_makes_keys: draft.who_makes_keys,
    keys_visible: draft.keys_visible,
    max_keys_per_member: Number(draft.max_keys_per_member),
    max_key_days: Number(draft.max_key_days),
    on_leave: draft.on_leave,
    groups: [...draft.groups],
    models: [...draft.models],
    channels: draft.channels.map(Number),
    limits: toLimits(draft.limits),
    member_limits: toLimits(draft.member_limits),
    tag_limits: toTagLimits(draft.tag_limits),
  };
}

function toMembers(draft: SettingsDraft, { own, isOperator }: TeamRights) {
  return {
    ...(own && { name: draft.name.trim() }),
    description: draft.description.trim(),
    labels: parseLabels(draft.labels) ?? {},
    ...(isOperator && { group: draft.group.trim() }),
  };
}

function pickChanged<T extends object>(next: T, earlier: T): Partial<T> {
  const before = new Map<string, unknown>(Object.entries(earlier));
  const isChanged = ([name, value]: [string, unknown]) => JSON.stringify(value) !== JSON.stringify(before.get(name));
  return Object.fromEntries(Object.entries(next).filter(isChanged)) as Partial<T>;
}

/** Returns the members that the reader may change and did change, so that others of the same time stay. */
export function toChange(draft: SettingsDraft, team: TeamView, rights: TeamRights): TeamChange {
  const earlier = toSettingsDraft(team);
  const settings = pickChanged(toSettings(draft), toSettings(earlier));
  const members = pickChanged(toMembers(draft, rights), toMembers(earlier, rights));
  return { ...members, ...(Object.keys(settings).length > 0 && { settings }) };
}
