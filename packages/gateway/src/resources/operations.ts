import { formatQuota, LOG_TYPE } from "@fairway/wire";
import type { RemoveCache } from "../caches/management.ts";
import type { Budgets } from "../billing/budgets/budgets.ts";
import type { Ledger } from "../billing/ledger/ledger.ts";
import type { Route } from "../http/endpoint.ts";
import type { Principal } from "../identity/principal.ts";
import type { Authenticator } from "../identity/authentication/caller.ts";
import { seconds, type Clock } from "../lib/clock.ts";
import type { Runnable } from "../lib/async/runnable.ts";
import type { Logger } from "../observability/log.ts";
import type { Network } from "../lib/net/network.ts";
import type { ChannelRecord, HttpJson, ProviderAdapter } from "../providers/core/types.ts";
import type { ProbeResult } from "../relay/pipeline/probe.ts";
import type { Snapshot, TokenCache } from "../snapshot/types.ts";
import type { Database } from "../storage/database.ts";
import type { LogDatabase } from "../storage/log-database.ts";
import { guardReads } from "../storage/log-reads.ts";
import type { WebhookDeps } from "../webhooks/types.ts";
import { operatorInfo, type WriteLog } from "../storage/log-rows.ts";
import type { BatchManagement } from "../batches/management/management.ts";
import { taskRoutes } from "./async-tasks/routes.ts";
import { createTaskStore } from "./async-tasks/store.ts";
import { batchRoutes } from "./batches/routes.ts";
import { createBatchStore } from "./batches/store.ts";
import { ownBudgetRoutes } from "./budgets/own-routes.ts";
import { budgetRoutes } from "./budgets/routes.ts";
import { createBudgetStore } from "./budgets/store.ts";
import type { RefusesHost } from "./channels/destination.ts";
import type { ProbeBetas } from "./channels/filters/routes.ts";
import { createChannels, type Channels } from "./channels/channels.ts";
import { cacheRoutes } from "./caches/routes.ts";
import { createCacheStore } from "./caches/store.ts";
import { fileRoutes, type StoredFiles } from "./files/routes.ts";
import { createFileStore } from "./files/store.ts";
import { drawingRoutes } from "./drawing/routes.ts";
import { createDrawingStore } from "./drawing/store.ts";
import { eventRoutes } from "./events/routes.ts";
import { groupRoutes } from "./groups/routes.ts";
import { importRoutes } from "./import/routes.ts";
import { importRunRoutes } from "./import/runs/routes.ts";
import { createRunStore } from "./import/runs/store.ts";
import { jobRoutes } from "./jobs/routes.ts";
import { createJobRunner, type JobRunner } from "./jobs/runner.ts";
import { createJobStore } from "./jobs/store.ts";
import type { ReportDeps } from "./reports/build-report.ts";
import { reportRoutes } from "./reports/routes.ts";
import { createSavedReportCalls } from "./reports/saved/calls.ts";
import { savedReportRoutes } from "./reports/saved/routes.ts";
import { createSavedReports } from "./reports/saved/store.ts";
import { createReportStore } from "./reports/store.ts";
import { logRoutes, type LogRoutesDeps } from "./logs/routes.ts";
import { createLogStore } from "./logs/store.ts";
import { createLogTail } from "./logs/tail.ts";
import { modelRoutes } from "./models/routes.ts";
import type { Announce, Vault } from "./ports.ts";
import { pauseRoutes } from "./pauses/routes.ts";
import { createPauseStore, type PauseStore } from "./pauses/store.ts";
import { pricePlanRoutes } from "./price-plans/routes.ts";
import { createPricePlanStore } from "./price-plans/store.ts";
import { pricingRoutes } from "./pricing/routes.ts";
import { redemptionRoutes } from "./redemptions/routes.ts";
import { createRedemptionStore } from "./redemptions/store.ts";
import { createRecentUsage } from "./statistics/recent.ts";
import { statisticsRoutes } from "./statistics/routes.ts";
import { createStatisticsStore } from "./statistics/store.ts";
import { searchRoutes } from "./search/routes.ts";
import { createSearchStore } from "./search/store.ts";
import { operatorAccountRoutes } from "./service-accounts/routes.ts";
import { teamsRoutes } from "./teams/teams.ts";
import { tokenFactsRoutes, type TokenFactsDeps } from "./tokens/facts-routes.ts";
import { tokenRoutes, type TokenRoutesDeps } from "./tokens/routes.ts";
import { tokenRotationRoutes } from "./tokens/rotation-routes.ts";
import { createTokenRotations } from "./tokens/rotation.ts";
import { createTokenStore } from "./tokens/store.ts";
import { tokenUsageRoute } from "./tokens/usage-route.ts";
import { usageRoutes } from "./usage-data/routes.ts";
import { createUsageStore } from "./usage-data/store.ts";
import { usableGroups } from "./users/groups.ts";
import { notificationRoutes } from "./webhooks/notifications.ts";
import { requireTeam, type TeamCall } from "./teams/require-team.ts";
import { findNamedAccounts } from "../teams/wallet-names.ts";
import { webhookRoutes } from "./webhooks/routes.ts";
import { createWebhookStore } from "./webhooks/store.ts";
import { moneyStyle } from "./users/money-style.ts";
import { orderRoutes } from "./wallet/order-routes.ts";
import { walletRoutes } from "./wallet/routes.ts";
import { createWalletStore, type WalletStore } from "./wallet/store.ts";

export interface OperationsDeps {
  readonly database: Database;
  /** Database of `logs`; the main database unless logs have their own. */
  readonly logDatabase: LogDatabase;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly log: Logger;
  readonly network: Network;
  readonly snapshots: { current(): Snapshot };
  readonly tokens: TokenCache;
  /** Checks relay keys. */
  readonly authenticator: Pick<Authenticator, "byKey">;
  readonly announce: Announce;
  readonly writeLog: WriteLog;
  readonly ledger: Ledger;
  readonly budgets: Pick<Budgets, "reload" | "heldElsewhere" | "restate">;
  /** Sorted by type, ascending. */
  readonly providers: readonly ProviderAdapter[];
  readonly probe: (channel: ChannelRecord, model: string | undefined) => Promise<ProbeResult>;
  /** Receives the result of each test of a saved channel's key. */
  readonly onTested: (channelId: number, keyIndex: number, result: ProbeResult) => void;
  readonly probeBetas: ProbeBetas;
  readonly http: HttpJson;
  /** Returns true for a host that no channel may call. */
  readonly refusesHost: RefusesHost;
  /** Sends a mail to the super administrator; must not reject. */
  readonly notify: (subject: string, text: string) => Promise<void>;
  /** Public address of this server, used while the option is not set. */
  readonly publicUrl: string | undefined;
  /** Returns the address where the gateway itself serves the image of a drawing task. */
  readonly imageUrl: (serverAddress: string, mjId: string) => string;
  /** Files that users store at providers. */
  readonly storedFiles: StoredFiles;
  /** Deletes a prompt that a provider caches for a user. */
  readonly removeCache: RemoveCache;
  /** What people do with batches. */
  readonly batchManagement: BatchManagement;
  /** What sends messages about events. */
  readonly webhooks: WebhookDeps;
  readonly maxUserTokens: number;
  /** The largest database that may be uploaded for an import. */
  readonly maxUploadBytes: number;
  readonly pollingSeconds: number;
}

export interface Operations {
  readonly routes: Route[];
  readonly channels: Channels;
  readonly pauses: PauseStore;
  readonly jobs: JobRunner;
  readonly wallet: WalletStore;
  /** What makes reports. */
  readonly reports: ReportDeps;
  /** Services to stop before the server closes; they end open streams and running jobs. */
  readonly runnables: readonly Runnable[];
}

function ownTokenRoutes(
  deps: OperationsDeps,
  {
    store,
    usableGroups,
    readActivity,
  }: Pick<TokenRoutesDeps & TokenFactsDeps, "store" | "usableGroups" | "readActivity">,
): Route[] {
  const { clock, database, maxUserTokens, budgets, announce } = deps;
  const spreadBudgets = async () => {
    await budgets.reload();
    await announce("options");
  };
  const terms = { usableGroups, maxTokens: maxUserTokens, kind: database.kind, spreadBudgets };
  return [
    ...tokenRoutes({ store, clock, ...terms }),
    ...tokenFactsRoutes({ store, clock, readActivity }),
    ...tokenRotationRoutes({ rotations: createTokenRotations(deps), store }),
    tokenUsageRoute(deps),
  ];
}

function ownLogRoutes(
  deps: OperationsDeps,
  parts: Pick<LogRoutesDeps, "store" | "tail" | "channelNames" | "findNamed">,
): Route[] {
  const { vault, authenticator } = deps;
  return logRoutes({
    ...parts,
    vault,
    authenticator,
    logClearing: (operator, ip, content) => logClearing(deps, operator, { ip, content }),
  });
}

function eventsRoutes(deps: OperationsDeps): Route[] {
  const store = createWebhookStore(deps);
  return [
    ...eventRoutes(deps),
    ...webhookRoutes({ ...deps.webhooks, store, findManagedTeam: findManagedTeam(deps) }),
    ...notificationRoutes(deps.webhooks),
  ];
}

function plannedPriceRoutes({ database, logDatabase: logs, clock, snapshots, announce }: OperationsDeps): Route[] {
  return pricePlanRoutes({
    store: createPricePlanStore({ database, clock, announce }),
    logs,
    clock,
    snapshot: () => snapshots.current(),
    stored: () => database.db.selectFrom("options").select(["key", "value"]).execute(),
  });
}

/** Without the main database there are neither sessions nor calls, so the log in it has no refusal of its own. */
function chooseReads({ database, logDatabase }: OperationsDeps): LogDatabase {
  return logDatabase === database ? database : guardReads(logDatabase);
}

/** Creates the daily operations: channels, tokens, codes, wallet, logs, usage, prices, tasks, search and jobs. */
export function createOperations(deps: OperationsDeps): Operations {
  const { database, clock, log, snapshots } = deps;
  const options = () => snapshots.current().options;
  const jobStore = createJobStore(deps);
  const jobs = createJobRunner(jobStore, log);
  const channels = createChannels({ ...deps, jobs, options, pauseSeconds: deps.pollingSeconds });
  const pauses = createPauseStore(deps);
  const wallet = createWalletStore({ ...deps, formatQuota: (amount) => formatQuota(amount, moneyStyle(options())) });
  const logDatabase = chooseReads(deps);
  const logs = createLogStore({ database: logDatabase, sums: database, clock });
  const tail = createLogTail(logs, log);
  const statistics = createStatisticsStore({ database });
  const recent = createRecentUsage({ logs: logDatabase, clock });
  const tokens = createTokenStore(deps);
  const usable = (group: string) => new Set(Object.keys(usableGroups(options(), group)));
  const budgetStore = createBudgetStore({ ...deps, held: deps.budgets });
  const reports = buildReportDeps({ ...deps, logDatabase }, channels);
  const savedReports = createSavedReportCalls({ ...reports, database, saved: createSavedReports(deps) });
  const ownReports = [
    ...ownLogRoutes(deps, { store: logs, tail, channelNames: channels.readNames, findNamed: reports.findNamed }),
    ...statisticsRoutes({ database, options, store: statistics, recent, clock, channels }),
    ...reportRoutes(reports),
  ];
  const routes = [
    ...channels.routes,
    ...pauseRoutes({ store: pauses, clock, findChannels: channels.store.ids }),
    ...ownReports,
    ...savedReportRoutes(savedReports),
    ...teamsRoutes({ ...deps, options, savedReports, tokenStore: tokens, budgetStore, own: ownReports }),
    ...operatorAccountRoutes(deps),
    ...ownTokenRoutes(deps, { store: tokens, usableGroups: usable, readActivity: logs.tokenActivity }),
    ...redemptionRoutes({ store: createRedemptionStore(deps) }),
    ...walletRoutes({ store: wallet, clock, log, options, publicUrl: deps.publicUrl }),
    ...orderRoutes({ database, options }),
    ...usageRoutes({ store: createUsageStore({ database }) }),
    ...budgetRoutes({ ...deps, store: budgetStore, statistics }),
    ...ownBudgetRoutes({ ...deps, store: budgetStore }),
    ...eventsRoutes(deps),
    ...groupRoutes({ options }),
    ...importRoutes(deps),
    ...importRunRoutes({ ...deps, jobs, runs: createRunStore({ database, clock, jobs: jobStore }) }),
    ...plannedPriceRoutes({ ...deps, logDatabase }),
    ...modelRoutes(deps),
    ...pricingRoutes({ snapshots }),
    ...drawingRoutes({ ...deps, store: createDrawingStore({ database }), options }),
    ...fileRoutes({ ...deps.storedFiles, database, store: createFileStore({ database }), options }),
    ...cacheRoutes({ store: createCacheStore(deps), remove: deps.removeCache }),
    ...batchRoutes({ store: createBatchStore({ database }), batches: deps.batchManagement, statistics }),
    ...taskRoutes({ store: createTaskStore({ database }) }),
    ...searchRoutes({ store: createSearchStore({ database }), snapshots }),
    ...jobRoutes({ store: jobStore }),
  ];
  return { routes, channels, pauses, jobs, wallet, reports, runnables: [jobs, tail] };
}

function buildReportDeps(
  { database, logDatabase: logs, clock, snapshots }: OperationsDeps,
  { readNames }: Channels,
): ReportDeps {
  const options = () => snapshots.current().options;
  const store = createReportStore({ logs, database });
  const findNamed = (name: string) => findNamedAccounts(database.db, name);
  return { store, clock, options, channelNames: readNames, findNamed };
}

async function logClearing(
  { database, clock, writeLog }: OperationsDeps,
  operator: Principal,
  { ip, content }: { readonly ip: string; readonly content: string },
): Promise<void> {
  const who = { user_id: operator.userId, username: operator.username };
  const entry = { ...who, created_at: seconds(clock), type: LOG_TYPE.manage, content, ip };
  await database.raw.transaction((tx) => writeLog(tx, { ...entry, other: operatorInfo(operator, ip) }));
}

function findManagedTeam({ database: { db } }: Pick<OperationsDeps, "database">) {
  return async (call: TeamCall) => (await requireTeam(db, call, "manage")).team.id;
}
