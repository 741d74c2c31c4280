import type { Migration } from "../migration.ts";
import { accounts } from "./0001-accounts.ts";
import { routing } from "./0002-routing.ts";
import { money } from "./0003-money.ts";
import { responseOwners } from "./0007-response-owners.ts";
import { tasks } from "./0004-tasks.ts";
import { operations } from "./0005-operations.ts";
import { liveBalances } from "./0006-live-balances.ts";
import { managedFields } from "./0008-managed-fields.ts";
import { budgetHolds } from "./0009-budget-holds.ts";
import { entityLimits } from "./0010-entity-limits.ts";
import { reapedBudgets } from "./0011-reaped-budgets.ts";
import { accessScopes } from "./0012-access-scopes.ts";
import { usageStatistics } from "./0013-usage-statistics.ts";
import { replicas } from "./0014-replicas.ts";
import { budgetRevisions } from "./0015-budget-revisions.ts";
import { replicaRevisions } from "./0016-replica-revisions.ts";
import { facetSums } from "./0017-facet-sums.ts";
import { logSums } from "./0018-log-sums.ts";
import { tokenDisables } from "./0019-token-disables.ts";
import { replicaChannels } from "./0020-replica-channels.ts";
import { tokenLimits } from "./0021-token-limits.ts";
import { explicitScopes } from "./0022-explicit-scopes.ts";
import { explainedBooks } from "./0023-explained-books.ts";
import { channelHeaders } from "./0024-channel-headers.ts";
import { nameKeys } from "./0025-name-keys.ts";
import { channelTests } from "./0026-channel-tests.ts";
import { budgetCreation } from "./0027-budget-creation.ts";
import { listedModels } from "./0028-listed-models.ts";
import { pricePlans } from "./0042-price-plans.ts";
import { tokenTags } from "./0041-token-tags.ts";
import { tokenFallbacks } from "./0029-token-fallbacks.ts";
import { upstreamObjects } from "./0030-upstream-objects.ts";
import { batches } from "./0031-batches.ts";
import { costRatio } from "./0032-cost-ratio.ts";
import { events } from "./0033-events.ts";
import { teams } from "./0034-teams.ts";
import { budgetWindows } from "./0035-budget-windows.ts";
import { tokenKeys } from "./0036-token-keys.ts";
import { identityProviders } from "./0037-identity-providers.ts";
import { batchSavings } from "./0039-batch-savings.ts";
import { directories } from "./0038-directories.ts";
import { channelPauses } from "./0040-channel-pauses.ts";
import { savedReports } from "./0043-saved-reports.ts";
import { serviceTokens } from "./0044-service-tokens.ts";
import { budgetMakers } from "./0045-budget-makers.ts";
import { reportSums } from "./0046-report-sums.ts";
import { ownBalanceLimits } from "./0047-own-balance-limits.ts";
import { balanceShares } from "./0048-balance-shares.ts";
import { upstreamCaches } from "./0049-upstream-caches.ts";
import { tokenPromptCaches } from "./0050-token-prompt-caches.ts";
import { budgetValues } from "./0051-budget-values.ts";
import { reportReceivers } from "./0052-report-receivers.ts";
import { cacheSums } from "./0053-cache-sums.ts";
import { tagLimits } from "./0054-tag-limits.ts";
import { logBatches } from "./0055-log-batches.ts";
import { importRuns } from "./0056-import-runs.ts";
import { responseKeys } from "./0057-response-keys.ts";
import { logs } from "./logs-0001-logs.ts";
import { logPartitions } from "./logs-0002-partitions.ts";
import { logActors } from "./logs-0003-log-actors.ts";
import { logTags } from "./logs-0004-log-tags.ts";

/** The migrations in order; a released version is never changed. */
export const MIGRATIONS: readonly Migration[] = [
  accounts,
  routing,
  money,
  tasks,
  operations,
  liveBalances,
  responseOwners,
  managedFields,
  budgetHolds,
  entityLimits,
  reapedBudgets,
  accessScopes,
  usageStatistics,
  replicas,
  budgetRevisions,
  replicaRevisions,
  facetSums,
  logSums,
  tokenDisables,
  replicaChannels,
  tokenLimits,
  explicitScopes,
  explainedBooks,
  channelHeaders,
  nameKeys,
  channelTests,
  budgetCreation,
  listedModels,
  tokenFallbacks,
  upstreamObjects,
  batches,
  costRatio,
  events,
  teams,
  budgetWindows,
  tokenKeys,
  identityProviders,
  directories,
  batchSavings,
  channelPauses,
  tokenTags,
  pricePlans,
  savedReports,
  serviceTokens,
  budgetMakers,
  reportSums,
  ownBalanceLimits,
  balanceShares,
  upstreamCaches,
  tokenPromptCaches,
  budgetValues,
  reportReceivers,
  cacheSums,
  tagLimits,
  logBatches,
  importRuns,
  responseKeys,
];

/** Migrations of the table `logs`, which may be in a separate database. */
export const LOG_MIGRATIONS: readonly Migration[] = [logs, logPartitions, logActors, logTags];
