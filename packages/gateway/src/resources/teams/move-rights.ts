import type { OptionValues } from "@fairway/wire";
import { Refusal } from "../../lib/refusal.ts";
import type { Team } from "../../teams/team.ts";
import { usableGroups } from "../users/groups.ts";
import { listTeamGroups } from "./key-rules.ts";

/** What keys of an owner may use. An empty list of models or channels means all. */
export interface OwnerRights {
  /** The group of keys that name none. */
  readonly usual: string;
  readonly groups: ReadonlySet<string>;
  readonly models: readonly string[];
  readonly channels: readonly number[];
}

/** What a key limits itself to. */
export interface KeyLimits {
  /** "" = the usual group of its owner. */
  readonly group: string;
  /** Empty = all. */
  readonly models: readonly string[];
}

export function readTeamRights(team: Team): OwnerRights {
  const groups = listTeamGroups(team);
  const { models, channels } = team.settings;
  return { usual: groups[0], groups: new Set(groups), models, channels };
}

export function readPersonRights(group: string, options: OptionValues): OwnerRights {
  return { usual: group, groups: new Set(Object.keys(usableGroups(options, group))), models: [], channels: [] };
}

/** Throws `token_group_not_permitted` if the new owner has no keys of this group. */
export function checkGroup({ group }: KeyLimits, { groups }: OwnerRights): void {
  if (group !== "" && !groups.has(group))
    throw new Refusal("token_group_not_permitted", { field: "group", values: { g: group } });
}

/** Throws `token_move_widens` if the key could use something that it could not use before. */
export function checkNotWider(key: KeyLimits, before: OwnerRights, after: OwnerRights): void {
  const isOtherGroup = key.group === "" && !before.groups.has(after.usual);
  const models = key.models.length > 0 ? key.models : after.models;
  const isWider = isOtherGroup || !coversModels(before.models, models) || !isWithin(after.channels, before.channels);
  if (isWider) throw new Refusal("token_move_widens");
}

/** True if every name or beginning of `models` is among those of `allowed`. */
function coversModels(allowed: readonly string[], models: readonly string[]): boolean {
  if (allowed.length === 0) return true;
  return models.length > 0 && models.every((model) => allowed.some((one) => covers(one, model)));
}

function covers(allowed: string, model: string): boolean {
  return allowed.endsWith("*") ? model.startsWith(allowed.slice(0, -1)) : allowed === model;
}

function isWithin(after: readonly number[], before: readonly number[]): boolean {
  if (before.length === 0) return true;
  return after.length > 0 && after.every((id) => before.includes(id));
}
