import type { OptionValues } from "@fairway/wire";

const AUTO_GROUP = "auto";
const FIRST_GROUP = "default";
const OWN_LABEL = "User group";

type GroupOptions = Pick<OptionValues, "GroupRatio" | "UserUsableGroups">;

/**
 * Returns the groups that a user may choose, with labels: those that are offered and have a ratio, and the user's own.
 * `default` comes first, because consoles preselect the first one.
 */
export function usableGroups(options: GroupOptions, ownGroup?: string): Record<string, string> {
  const { GroupRatio, UserUsableGroups } = options;
  const names = Object.keys(UserUsableGroups).filter((name) => name === AUTO_GROUP || Object.hasOwn(GroupRatio, name));
  if (ownGroup !== undefined && Object.hasOwn(GroupRatio, ownGroup) && !names.includes(ownGroup)) names.push(ownGroup);
  names.sort((a, b) => Number(b === FIRST_GROUP) - Number(a === FIRST_GROUP));
  const groups = Object.create(null) as Record<string, string>;
  for (const name of names) groups[name] = UserUsableGroups[name] ?? OWN_LABEL;
  return groups;
}
