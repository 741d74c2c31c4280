import {
  ROLE,
  teamSavedReportCreate,
  teamSavedReportDelete,
  teamSavedReportList,
  teamSavedReportRun,
  teamSavedReportUpdate,
} from "@fairway/wire";
import { implement, type Route } from "../../http/endpoint.ts";
import type { TeamRight } from "../../teams/rights.ts";
import type { SavedReportCalls } from "../reports/saved/calls.ts";
import type { ReportOwner } from "../reports/saved/receivers.ts";
import { requireTeam, type TeamCall } from "./require-team.ts";
import type { TeamStore } from "./store.ts";

export interface TeamSavedReportDeps {
  readonly store: TeamStore;
  readonly savedReports: SavedReportCalls;
}

/** The routes of a team's saved reports: they read the calls of its wallet, also if an administrator saved them. */
export function teamSavedReportRoutes({ store, savedReports: calls }: TeamSavedReportDeps): Route[] {
  const findOwner = async (call: TeamCall, right: TeamRight): Promise<ReportOwner> => {
    const { team } = await requireTeam(store.db, call, right);
    return { userId: team.accountId, role: ROLE.user, teamId: team.id };
  };
  return [
    implement(teamSavedReportList, async (call) => calls.list(await findOwner(call, "report"))),
    implement(teamSavedReportCreate, async (call) => calls.create(await findOwner(call, "manage"), call.body)),
    implement(teamSavedReportUpdate, async (call) =>
      calls.update(await findOwner(call, "manage"), call.params.rid, call.body),
    ),
    implement(teamSavedReportDelete, async (call) => calls.remove(await findOwner(call, "manage"), call.params.rid)),
    implement(teamSavedReportRun, async (call) =>
      calls.run(await findOwner(call, "report"), call.params.rid, call.query, call.response),
    ),
  ];
}
