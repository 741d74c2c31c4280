import type { OptionValues } from "@fairway/wire";
import type { Ledger } from "../../billing/ledger/ledger.ts";
import type { Route } from "../../http/endpoint.ts";
import type { Clock } from "../../lib/clock.ts";
import type { TokenCache } from "../../snapshot/types.ts";
import type { Database } from "../../storage/database.ts";
import type { WriteLog } from "../../storage/log-rows.ts";
import { createAuditStore } from "../audit/store.ts";
import type { SpreadDeps } from "../budgets/spread.ts";
import type { BudgetStore } from "../budgets/store.ts";
import type { Announce, Vault } from "../ports.ts";
import { createTokenRotations } from "../tokens/rotation.ts";
import type { TokenStore } from "../tokens/store.ts";
import { createUserStore } from "../users/store.ts";
import { teamConvertRoutes } from "./convert-routes.ts";
import { teamBudgetRoutes } from "./budget-routes.ts";
import { teamInvitationRoutes } from "./invitation-routes.ts";
import { teamMemberRoutes } from "./member-routes.ts";
import type { SavedReportCalls } from "../reports/saved/calls.ts";
import { teamMoneyRoutes } from "./money-routes.ts";
import { tokenMoveRoute } from "./move-routes.ts";
import { teamSavedReportRoutes } from "./saved-report-routes.ts";
import { serviceAccountRoutes } from "./service-account-routes.ts";
import { teamReportRoutes } from "./report-routes.ts";
import { teamRoutes } from "./routes.ts";
import { createTeamStore } from "./store.ts";
import { teamTokenRoutes } from "./token-routes.ts";

export interface TeamsDeps {
  readonly database: Database;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly ledger: Ledger;
  readonly options: () => OptionValues;
  readonly writeLog: WriteLog;
  readonly announce: Announce;
  readonly tokens: TokenCache;
  readonly tokenStore: TokenStore;
  readonly budgetStore: BudgetStore;
  readonly savedReports: SavedReportCalls;
  readonly budgets: SpreadDeps["budgets"];
  readonly maxUserTokens: number;
  readonly publicUrl: string | undefined;
  /** Routes by which people read their own log and statistics. */
  readonly own: readonly Route[];
}

/** Creates the routes of teams. */
export function teamsRoutes(deps: TeamsDeps): Route[] {
  const store = createTeamStore(deps);
  const users = createUserStore(deps);
  return [
    ...teamRoutes({ ...deps, store }),
    ...teamMemberRoutes({ ...deps, store, users }),
    ...teamInvitationRoutes({ ...deps, store }),
    ...teamTokenRoutes({
      store,
      tokens: deps.tokenStore,
      rotations: createTokenRotations(deps),
      clock: deps.clock,
      maxTokens: deps.maxUserTokens,
    }),
    tokenMoveRoute({ ...deps, store }),
    ...teamConvertRoutes({ ...deps, store }),
    ...teamBudgetRoutes({ ...deps, store }),
    ...serviceAccountRoutes({ store, clock: deps.clock }),
    ...teamMoneyRoutes({ ...deps, store }),
    ...teamSavedReportRoutes({ ...deps, store }),
    ...teamReportRoutes({ store, own: deps.own, audit: createAuditStore(deps) }),
  ];
}
