import { ROLE, type TeamSummary } from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import { queryKeys } from "../lib/query-keys.ts";
import { FRESH_STATIC_MS } from "../lib/query.ts";
import { getRole, useUser } from "./session.ts";
import { useStatus } from "./status.ts";

/** Returns the teams of the signed-in user; undefined until they are known. */
export function useOwnTeams({ isNeeded = true } = {}): readonly TeamSummary[] | undefined {
  const user = useUser();
  return useQuery({
    queryKey: queryKeys.teams.own(user?.id),
    // Few people are in teams, so the frame does not carry the call.
    queryFn: async ({ signal }) => (await import("./own-teams.ts")).readOwnTeams(signal),
    enabled: isNeeded && user !== undefined,
    staleTime: FRESH_STATIC_MS,
  }).data;
}

/** Returns whether the signed-in user may create a team. */
export function useMayCreateTeam(): boolean {
  const { teams_enabled: isOn, team_creation: by } = useStatus();
  return isOn && (getRole(useUser()) >= ROLE.admin || by === "user");
}

/**
 * Returns whether the console mentions teams at all: who is in none and may make none sees the console of a single
 * user. Administrators are not asked, so that their pages load without another call.
 */
export function useHasTeams(): boolean {
  const mayCreate = useMayCreateTeam();
  const isAdmin = getRole(useUser()) >= ROLE.admin;
  const isKnown = mayCreate || isAdmin;
  return (useOwnTeams({ isNeeded: !isKnown })?.length ?? 0) > 0 || isKnown;
}
