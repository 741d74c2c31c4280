import type { BatchManagement } from "../batches/management/management.ts";
import type { RemoveCache } from "../caches/management.ts";
import type { Env } from "../config/env.ts";
import type { Budgets } from "../billing/budgets/budgets.ts";
import type { Ledger } from "../billing/ledger/ledger.ts";
import type { Route } from "../http/endpoint.ts";
import type { Authenticator } from "../identity/authentication/caller.ts";
import type { Identity } from "../identity/accounts/identity.ts";
import { notifyRoot } from "../identity/mail/notify-root.ts";
import type { Clock } from "../lib/clock.ts";
import { createIds } from "../lib/ids.ts";
import type { Runnable } from "../lib/async/runnable.ts";
import type { Network } from "../lib/net/network.ts";
import type { Limiter } from "../limits/limiter.ts";
import type { Logger } from "../observability/log.ts";
import { allProviders } from "../providers/registry.ts";
import type { PipelineDeps } from "../relay/pipeline/enter-model.ts";
import { probeBetas } from "../relay/pipeline/probe-betas.ts";
import { probeChannel } from "../relay/pipeline/probe.ts";
import { describeTest, type KeyOutcomes } from "../relay/selection/key-outcomes.ts";
import {
  accountRoutes,
  createAccountParts,
  type AccountParts,
  type AccountRoutesDeps,
} from "../resources/account-routes.ts";
import { withAudit } from "../resources/audit/audit.ts";
import type { ScheduledJob } from "../jobs/schedule.ts";
import { createDocuments, type Documents } from "../resources/declarative/documents.ts";
import { createDocumentFolder, type FolderDeps } from "../resources/declarative/folder.ts";
import { withDeclarative } from "../resources/declarative/routes.ts";
import { withOpenApi } from "../resources/openapi/routes.ts";
import { channelHealthRoute } from "../resources/channels/health-route.ts";
import { createOperations, type Operations, type OperationsDeps } from "../resources/operations.ts";
import type { StoredFiles } from "../resources/files/routes.ts";
import { alertmanagerRoute } from "../resources/events/alertmanager.ts";
import { leakRoute } from "../resources/leaks/routes.ts";
import { stripeRoutes } from "../resources/stripe/routes.ts";
import { systemRoutes, type SystemDeps } from "../resources/system/routes.ts";
import { createSetupState, type SetupState } from "../resources/status/setup-routes.ts";
import { priceOptionDefaults } from "../snapshot/option-defaults.ts";
import type { LiveSnapshots } from "../snapshot/refresh.ts";
import type { ClearableTokenCache } from "../snapshot/tokens.ts";
import { signedImageUrl } from "./tasks.ts";
import type { AppStorage } from "./storage.ts";
import { createLogWriter } from "../storage/log-rows.ts";
import { VERSION } from "../version.ts";
import type { WebhookDeps } from "../webhooks/types.ts";

export interface ManagementDeps {
  readonly env: Env;
  readonly storage: AppStorage;
  readonly clock: Clock;
  readonly log: Logger;
  readonly network: Network;
  readonly snapshots: LiveSnapshots;
  readonly tokens: ClearableTokenCache;
  readonly ledger: Ledger;
  readonly budgets: Pick<Budgets, "reload" | "heldElsewhere" | "restate">;
  readonly identity: Identity;
  readonly limiter: Limiter;
  readonly authenticator: Authenticator;
  readonly pipeline: PipelineDeps;
  /** Files that users store at providers. */
  readonly storedFiles: StoredFiles;
  readonly removeCache: RemoveCache;
  readonly batchManagement: BatchManagement;
  readonly webhooks: WebhookDeps;
  readonly upstreamHealth: { readonly keyOutcomes: Pick<KeyOutcomes, "observe"> };
}

export interface Management {
  readonly accounts: AccountParts;
  readonly routes: readonly Route[];
  readonly operations: Operations;
  readonly documents: Documents;
  readonly setupState: SetupState;
  readonly jobs: readonly ScheduledJob[];
  /** Waits for background work of calls, such as mails. */
  readonly background: Runnable;
}

/** Returns the receiver of test results, which say whether an upstream still takes a key. */
function observeTests({ keyOutcomes }: ManagementDeps["upstreamHealth"]): OperationsDeps["onTested"] {
  return (channelId, keyIndex, result) => {
    const outcome = describeTest(result);
    if (outcome) keyOutcomes.observe(channelId, keyIndex, outcome);
  };
}

/** Creates everything under `/api`. */
export function createManagement(deps: ManagementDeps): Management {
  const { env, storage, snapshots, identity, pipeline, clock, log } = deps;
  const setupState = createSetupState(storage.database);
  const background = createBackground(log);
  const nextId = createIds(clock);
  const optionDefaults = priceOptionDefaults();
  const options = () => snapshots.current().options;
  const shared = {
    ...deps,
    ...storage,
    announce: snapshots.announce,
    writeLog: createLogWriter(storage.isLogSeparate),
    refusesHost: pipeline.upstream.upstreams.refusesHost,
  };
  const operations = createOperations({
    ...shared,
    providers: allProviders,
    probe: (channel, model) => probeChannel(channel, model, nextId(), pipeline.upstream),
    onTested: observeTests(deps.upstreamHealth),
    probeBetas: (channel, model) => probeBetas(channel, model, nextId(), pipeline.upstream),
    http: pipeline.upstream.http,
    notify: (subject, text) => notifyRoot({ ...storage, log, mailer: identity.mailer }, subject, text),
    publicUrl: env.publicUrl,
    imageUrl: signedImageUrl(deps),
    maxUserTokens: env.maxUserTokens,
    maxUploadBytes: env.spoolMegabytes * 1_048_576,
    pollingSeconds: env.pollingSeconds,
  });
  const accounts = createAccounts(env, { ...shared, optionDefaults, setupState, background: background.add });
  const routes = [
    ...accountRoutes(accounts),
    ...operations.routes,
    ...systemRoutes({ ...shared, ...describeProcess(env), running: pipeline.running }),
    channelHealthRoute({ ...pipeline.routing.selection, usageDoubts: pipeline.routing.usageDoubts }),
    alertmanagerRoute({ ...shared, ...identity, options }),
    leakRoute({ ...shared, ...identity, options }),
    ...stripeRoutes({ ...shared, ...identity, wallet: operations.wallet, options, publicUrl: env.publicUrl }),
  ];
  const documents = createDocuments({ ...shared, ...identity, optionDefaults, providers: allProviders, secrets: env });
  const owned = withDeclarative(routes, { documents, clock });
  return {
    accounts,
    routes: withOpenApi(withAudit(owned, shared), VERSION),
    operations,
    documents,
    setupState,
    jobs: folderJobs(env.documentsDir, { ...storage, documents, log }),
    background,
  };
}

type OwnParts = "version" | "publicUrl" | "setupToken" | "firstRetries" | "givesToken";

function createAccounts(env: Env, parts: Omit<AccountRoutesDeps, OwnParts>): AccountParts {
  return createAccountParts({
    ...parts,
    version: VERSION,
    publicUrl: env.publicUrl,
    setupToken: env.setupToken,
    firstRetries: env.firstRetries,
    givesToken: env.generateDefaultToken,
  });
}

const FOLDER_EVERY_MS = 15_000;

function folderJobs(folder: string | undefined, deps: Omit<FolderDeps, "folder">): ScheduledJob[] {
  if (folder === undefined) return [];
  const run = createDocumentFolder({ ...deps, folder });
  return [{ name: "documents", isLeaderOnly: true, everyMs: FOLDER_EVERY_MS, run }];
}

interface Background extends Runnable {
  add(work: Promise<void>): void;
}

function createBackground(log: Logger): Background {
  const running = new Set<Promise<void>>();
  return {
    name: "background work",
    start() {},
    async stop() {
      await Promise.all(running);
    },
    add(work) {
      const watched: Promise<void> = work
        .catch((error: unknown) => log.error("background work failed", { error }))
        .finally(() => running.delete(watched));
      running.add(watched);
    },
  };
}

function describeProcess(env: Env): Pick<SystemDeps, "version" | "instance" | "services"> {
  const { githubUrl, otlpEndpoint, logExportOtlp, logExportS3 } = env;
  const services = { "sign-in": githubUrl, traces: otlpEndpoint, "log export": logExportOtlp ?? logExportS3 };
  return { version: VERSION, instance: env.instanceId, services };
}
