import { ROLE, type TeamView } from "@fairway/wire";
import { getRole, useUser } from "../../session/session.ts";

/** What the reader may do in a team. The server decides; a page leaves out what it would refuse. */
export interface TeamRights {
  /** Is an administrator of the installation, who may change what widens. */
  readonly isOperator: boolean;
  /** See log and statistics of the whole team. */
  readonly report: boolean;
  /** See the keys: all of them, or the own ones. */
  readonly seeKeys: boolean;
  readonly makeKeys: boolean;
  /** Disable, replace and delete keys of others. */
  readonly manageKeys: boolean;
  /** Members, invitations, settings that narrow, audit. */
  readonly manage: boolean;
  /** Owners, name, switch, deletion. */
  readonly own: boolean;
  /** Move money from the own balance. */
  readonly transfer: boolean;
  readonly isMember: boolean;
}

export function resolveRights({ role, settings }: Pick<TeamView, "role" | "settings">, userRole: number): TeamRights {
  const isOperator = userRole >= ROLE.admin;
  const isManager = role === "owner" || role === "admin";
  const isMaker = role === "member" && settings.who_makes_keys !== "admins";
  return {
    isOperator,
    report: isOperator || (role !== "" && role !== "member"),
    seeKeys: isOperator || isManager || isMaker,
    makeKeys: isManager || isMaker,
    manageKeys: isOperator || isManager,
    manage: isOperator || isManager,
    own: isOperator || role === "owner",
    transfer: role === "owner",
    isMember: role !== "",
  };
}

export function useRights(team: TeamView): TeamRights {
  return resolveRights(team, getRole(useUser()));
}
