import {
  logListSelf,
  logStatSelf,
  resolvePage,
  teamAudit,
  teamLog,
  reportUsageSelf,
  teamLogStat,
  teamReport,
  teamUsage,
  usageStatisticsSelf,
  type AuditRow,
  type Endpoint,
} from "@fairway/wire";
import { implement, type Call, type Route } from "../../http/endpoint.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { AuditStore } from "../audit/store.ts";
import type { TeamAccess } from "../../teams/team.ts";
import { mayInTeam, requireTeam, type TeamCall } from "./require-team.ts";
import type { TeamStore } from "./store.ts";

export interface TeamReportDeps {
  readonly store: TeamStore;
  /** Routes by which people read their own log and statistics; a team is read as if it were the caller. */
  readonly own: readonly Route[];
  readonly audit: Pick<AuditStore, "list">;
}

export function teamReportRoutes(deps: TeamReportDeps): Route[] {
  const { store, audit } = deps;
  const readAs = <E extends Endpoint>(own: E) => {
    const route = deps.own.find(({ endpoint }) => endpoint.name === own.name);
    if (!route) throw new Error(`${own.name} is not among the routes that teams read by`);
    return async (call: TeamCall, right: "report" | "see") => {
      const access = await requireTeam(store.db, call, right);
      return route.handler(toWalletCall(call, access) as unknown as Call<Endpoint>);
    };
  };
  const [log, stat, usage] = [readAs(logListSelf), readAs(logStatSelf), readAs(usageStatisticsSelf)];
  const report = readAs(reportUsageSelf);
  return [
    { endpoint: teamLog, handler: (call) => log(call as unknown as TeamCall, "see") },
    { endpoint: teamLogStat, handler: (call) => stat(call as unknown as TeamCall, "see") },
    { endpoint: teamUsage, handler: (call) => usage(call as unknown as TeamCall, "report") },
    { endpoint: teamReport, handler: (call) => report(call as unknown as TeamCall, "see") },
    implement(teamAudit, async (call) => {
      const { team } = await requireTeam(store.db, call, "audit");
      const query = { ...EVERYONE, ...resolvePage(call.query), target: `team ${team.id}` };
      const { rows, total } = await audit.list(query);
      call.setTotal(total);
      return rows.map(withoutAddress);
    }),
  ];
}

const EVERYONE = { user_id: 0, username: "", action: "", start_timestamp: 0, end_timestamp: 0 };

/** A team does not learn where its administrators are. */
function withoutAddress(row: AuditRow): AuditRow {
  return { ...row, ip: "" };
}

/** The wallet reads its own rows; members who may not see those of others read what they used. */
function toWalletCall(call: TeamCall, access: TeamAccess): TeamCall & { readonly query: object } {
  const { caller } = call;
  const isOfAll = mayInTeam(access, caller, "report");
  if (!isOfAll && !mayInTeam(access, caller, "useKeys")) throw new Refusal("team_right_missing");
  const { query } = call as TeamCall & { readonly query: object };
  return {
    ...call,
    query: isOfAll ? query : { ...query, actor: `u${caller.userId}` },
    caller: { ...caller, userId: access.team.accountId, username: access.team.name },
  };
}
