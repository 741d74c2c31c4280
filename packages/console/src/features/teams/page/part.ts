import type { TeamView } from "@fairway/wire";
import type { TeamRights } from "../../../shared/teams/rights.ts";

/** What every tab of a team gets. */
export interface PartProps {
  readonly team: TeamView;
  readonly rights: TeamRights;
}
