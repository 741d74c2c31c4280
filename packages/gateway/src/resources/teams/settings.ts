import type { Limits, TeamSettings } from "@fairway/wire";

const LIMITS = ["rpm", "tpm", "concurrency"] as const;

interface Rules {
  /** Group of the wallet, which a team without a list may use. */
  readonly group: string;
  /** Limits of accounts without their own. */
  readonly defaults: Limits;
}

/** True if the change gives a team more than it has: groups, channels, or more than the limits that apply now. */
export function isWider(before: TeamSettings, after: TeamSettings, { group, defaults }: Rules): boolean {
  const groups = (settings: TeamSettings) => (settings.groups.length === 0 ? [group] : settings.groups);
  const had = new Set(groups(before));
  if (groups(after).some((name) => !had.has(name))) return true;
  if (!isWithin(after.channels, before.channels)) return true;
  return LIMITS.some((name) => effective(after, defaults, name) > effective(before, defaults, name));
}

/** An empty list means all. */
function isWithin(after: readonly number[], before: readonly number[]): boolean {
  if (before.length === 0) return true;
  return after.length > 0 && after.every((id) => before.includes(id));
}

function effective({ limits }: TeamSettings, defaults: Limits, name: (typeof LIMITS)[number]): number {
  return limits[name] ?? defaults[name] ?? Infinity;
}
