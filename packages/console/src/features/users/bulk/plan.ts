import { ROLE, USER_STATUS, type User } from "@fairway/wire";
import { toLimits, NO_LIMITS, type Limits, type LimitsDraft } from "../../../lib/limits.ts";
import { diffPatch, type Plan, type PlannedChange } from "../../../ui/bulk/plan.ts";
import { isDeleted } from "../access.ts";

/** What changes for many users at once; "" leaves a value alone. */
export interface UsersDraft extends LimitsDraft {
  readonly status: "" | "on" | "off";
  readonly role: "" | "admin" | "user";
  readonly group: string;
  /** Text of an amount in the display unit. */
  readonly add: string;
  /** "set": the limits of the draft; if one is blank, the limit of all users applies. */
  readonly limitsMode: "" | "set";
}

export const NO_CHANGE: UsersDraft = {
  status: "",
  role: "",
  group: "",
  add: "",
  limitsMode: "",
  ...NO_LIMITS,
};

export interface UserPatch {
  readonly status?: number;
  readonly role?: number;
  readonly group?: string;
  /** The new balance; only the difference is sent, which does not race with spending. */
  readonly quota?: number;
  /** Limits as a text that can be compared. */
  readonly limits?: string;
}

export type UserChange = PlannedChange<User, UserPatch>;

/**
 * Returns whether a bulk change by this caller may include the account: not the caller's own, and none of the same
 * role.
 */
export function isChangeable(own: Pick<User, "role"> | undefined, user: User): boolean {
  return own !== undefined && !isDeleted(user) && user.role < own.role;
}

/** Returns the same text for the same limits. */
export function formatLimits({ rpm, tpm, concurrency }: Limits): string {
  return JSON.stringify({ rpm, tpm, concurrency });
}

export function parseLimits(text: string): Limits {
  return JSON.parse(text) as Limits;
}

interface Wanted {
  readonly draft: UsersDraft;
  /** Quota units to add to each balance. */
  readonly added: number;
}

/** Returns the users that a draft changes, each with the members that differ. */
export function buildPlan({ draft, added }: Wanted, users: readonly User[]): Plan<User, UserPatch> {
  return users.flatMap((user) => {
    const { status, role, group, limitsMode } = draft;
    const wanted: UserPatch = {
      ...(status !== "" && { status: status === "on" ? USER_STATUS.enabled : USER_STATUS.disabled }),
      ...(role !== "" && { role: role === "admin" ? ROLE.admin : ROLE.user }),
      ...(group !== "" && { group }),
      ...(added !== 0 && { quota: user.quota + added }),
      ...(limitsMode === "set" && { limits: formatLimits(toLimits(draft)) }),
    };
    const limits = formatLimits(user.limits);
    const before = { status: user.status, role: user.role, group: user.group, quota: user.quota, limits };
    const difference = diffPatch<UserPatch>(wanted, before);
    return difference ? [{ row: user, ...difference }] : [];
  });
}
