import { ROLE, USER_STATUS, type User } from "@fairway/wire";
import { differenceOf, type Plan, type PlannedChange } from "../../../ui/bulk/plan.ts";
import { isDeleted } from "../access.ts";

/** What is changed of many users at once; "" leaves it. */
export interface UsersDraft {
  readonly status: "" | "on" | "off";
  readonly role: "" | "admin" | "user";
  readonly group: string;
  /** Text of an amount in the display unit. */
  readonly add: string;
}

export const NO_CHANGE: UsersDraft = { status: "", role: "", group: "", add: "" };

export interface UserPatch {
  readonly status?: number;
  readonly role?: number;
  readonly group?: string;
  /** The balance; what is sent is the difference, which does not race with spending. */
  readonly quota?: number;
}

export type UserChange = PlannedChange<User, UserPatch>;

/** Whether this caller may change the account with others: not one's own, and none of one's own role. */
export function isChangeable(own: Pick<User, "role"> | undefined, user: User): boolean {
  return own !== undefined && !isDeleted(user) && user.role < own.role;
}

interface Wanted {
  readonly draft: UsersDraft;
  /** Quota units that are added to each balance. */
  readonly added: number;
}

/** Users that a draft changes, each with the members that differ. */
export function planOf({ draft, added }: Wanted, users: readonly User[]): Plan<User, UserPatch> {
  return users.flatMap((user) => {
    const { status, role, group } = draft;
    const wanted: UserPatch = {
      ...(status !== "" && { status: status === "on" ? USER_STATUS.enabled : USER_STATUS.disabled }),
      ...(role !== "" && { role: role === "admin" ? ROLE.admin : ROLE.user }),
      ...(group !== "" && { group }),
      ...(added !== 0 && { quota: user.quota + added }),
    };
    const before = { status: user.status, role: user.role, group: user.group, quota: user.quota };
    const difference = differenceOf<UserPatch>(wanted, before);
    return difference ? [{ row: user, ...difference }] : [];
  });
}
