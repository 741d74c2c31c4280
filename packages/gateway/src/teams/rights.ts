import { ROLE, type TeamRole, type TeamSettings } from "@fairway/wire";

/** Who asks: the role in the installation, and the role in the team if the person is a member. */
export interface TeamActor {
  /** Role in the installation. */
  readonly role: number;
  readonly teamRole: TeamRole | undefined;
}

/**
 * - `see`: the team, its members, budgets and balance
 * - `report`: statistics and log of the whole team
 * - `useKeys`: make keys, and change the own ones
 * - `manageKeys`: see, disable, delete and rotate every key
 * - `readKeys`: read every key in full
 * - `manage`: members, invitations, service accounts, settings that narrow
 * - `pay`: add money from outside
 * - `audit`: read who changed what
 * - `own`: owners, name, deletion, transfers from the own balance
 * - `widen`: groups, channels, limits, the balance itself
 */
export type TeamRight =
  | "see"
  | "report"
  | "useKeys"
  | "manageKeys"
  | "readKeys"
  | "manage"
  | "pay"
  | "audit"
  | "own"
  | "widen";

const VIEWER: readonly TeamRight[] = ["see", "report"];
const MEMBER: readonly TeamRight[] = ["see", "useKeys"];
const ADMIN: readonly TeamRight[] = ["see", "report", "useKeys", "manageKeys", "manage", "pay", "audit"];

const RIGHTS: Readonly<Record<TeamRole, ReadonlySet<TeamRight>>> = {
  owner: new Set([...ADMIN, "own"]),
  admin: new Set(ADMIN),
  member: new Set(MEMBER),
  viewer: new Set(VIEWER),
};

/** Administrators of the installation see keys as they see those of users: they make none and read none in full. */
const OF_INSTALLATION: ReadonlySet<TeamRight> = new Set([
  "see",
  "report",
  "manageKeys",
  "manage",
  "audit",
  "own",
  "widen",
] as const);

/** Returns whether a person may do something in a team. */
export function teamRight({ role, teamRole }: TeamActor, settings: TeamSettings, right: TeamRight): boolean {
  if (role >= ROLE.admin && OF_INSTALLATION.has(right)) return true;
  if (teamRole === undefined) return false;
  const isManager = RIGHTS[teamRole].has("manage");
  if (right === "readKeys") return isManager && settings.keys_visible === "admins";
  if (right === "useKeys" && !isManager && settings.who_makes_keys === "admins") return false;
  return RIGHTS[teamRole].has(right);
}
