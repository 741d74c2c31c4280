import { serviceAccountList, teamMemberList } from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import { call } from "../../lib/http.ts";
import { queryKeys } from "../../lib/query-keys.ts";

const NO_ONE: ReadonlyMap<string, string> = new Map();

interface Asked {
  readonly team: number;
  /** Only who manages the team may list its service accounts. */
  readonly isManager: boolean;
  readonly isNeeded?: boolean;
}

/** Returns who holds keys, by the marks that rows of the log have: `u17` for a member, `s3` for a service account. */
export function useHolders({ team, isManager, isNeeded = true }: Asked): ReadonlyMap<string, string> {
  const { data } = useQuery({
    queryKey: queryKeys.teams.inside(team, "holder-names", isManager),
    queryFn: async ({ signal }) => {
      const params = { id: team };
      const [members, services] = await Promise.all([
        call(teamMemberList, { params, signal }),
        isManager ? call(serviceAccountList, { params, signal }) : [],
      ]);
      return new Map([
        ...members.map(({ user_id: id, username }) => [`u${id}`, username] as const),
        ...services.map(({ id, name }) => [`s${id}`, name] as const),
      ]);
    },
    enabled: isNeeded,
  });
  return data ?? NO_ONE;
}
