import { ROLE } from "@fairway/wire";
import type { Kysely } from "kysely";
import type { Principal } from "../../identity/principal.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import { teamRight, type TeamRight } from "../../teams/rights.ts";
import { findTeamAccess, type TeamAccess } from "../../teams/team.ts";

/** A call about a team. */
export interface TeamCall {
  readonly caller: Principal;
  readonly params: { readonly id: number };
}

/**
 * Returns the team of a call if the caller may do this there now. To everyone else than members and administrators of
 * the installation, a team looks like one that does not exist (`team_not_found`).
 */
export async function requireTeam(
  db: Kysely<Schema>,
  { caller, params }: TeamCall,
  right: TeamRight,
  { isDeleted = false }: { readonly isDeleted?: boolean } = {},
): Promise<TeamAccess> {
  const access = withService(await findTeamAccess(db, params.id, caller.userId), caller);
  const isKnown = access !== undefined && (access.role !== undefined || caller.role >= ROLE.admin);
  if (!isKnown || (access.team.deletedAt !== null && !(isDeleted && caller.role >= ROLE.admin)))
    throw new Refusal("team_not_found");
  if (!mayInTeam(access, caller, right)) throw new Refusal("team_right_missing");
  return access;
}

/** A service account is an admin of its team. */
function withService(access: TeamAccess | undefined, { token }: Principal): TeamAccess | undefined {
  if (!access || token?.serviceAccount?.teamId !== access.team.id) return access;
  return { ...access, role: "admin" };
}

export function mayInTeam({ team, role }: TeamAccess, caller: Principal, right: TeamRight): boolean {
  return teamRight({ role: caller.role, teamRole: role }, team.settings, right);
}
