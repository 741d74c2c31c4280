import { randomBytes } from "node:crypto";
import { createBatchManagement } from "../../src/batches/management/management.ts";
import { createBatchUpstream } from "../../src/batches/upstream.ts";
import { createTokenCounter } from "../../src/billing/tokenizer/token-counter.ts";
import { createBudgets } from "../../src/billing/budgets/budgets.ts";
import { createSqlLedger } from "../../src/billing/ledger/sql/sql-ledger.ts";
import { createHttpServer, type HttpServer } from "../../src/http/server.ts";
import type { Route } from "../../src/http/endpoint.ts";
import { createAuthenticator } from "../../src/identity/authentication/authenticator.ts";
import { createIdentity, type Identity, type SignInServices } from "../../src/identity/accounts/identity.ts";
import { firstStart } from "../../src/identity/accounts/first-start.ts";
import { rememberHashes } from "../../src/identity/keys/key-hashes.ts";
import { createPasswords } from "../../src/identity/passwords/passwords.ts";
import { createPoster } from "../../src/lib/net/post-once.ts";
import { DIRECT } from "../../src/lib/net/network.ts";
import { Secret } from "../../src/lib/secret.ts";
import { BodyMemory } from "../../src/limits/body-memory.ts";
import { createMemoryLimiter } from "../../src/limits/limiter-memory.ts";
import type { EdgeRules } from "../../src/limits/rules.ts";
import type { Logger } from "../../src/observability/log.ts";
import { createIds } from "../../src/lib/ids.ts";
import { markKey } from "../../src/snapshot/key-marks.ts";
import { createLibrary } from "../../src/objects/library.ts";
import { createObjectStore } from "../../src/objects/store.ts";
import { allProviders } from "../../src/providers/registry.ts";
import { probeBetas } from "../../src/relay/pipeline/probe-betas.ts";
import { probeChannel } from "../../src/relay/pipeline/probe.ts";
import { createMetrics } from "../../src/observability/metrics.ts";
import { createBreakers } from "../../src/relay/selection/breaker.ts";
import { createUsageDoubts } from "../../src/relay/selection/usage-doubts.ts";
import { createCooldowns } from "../../src/relay/selection/cooldown.ts";
import { createUpstreams } from "../../src/relay/upstream/upstream.ts";
import { channelHealthRoute } from "../../src/resources/channels/health-route.ts";
import { serverAddress } from "@fairway/wire";
import { createScim } from "../../src/resources/scim/handler.ts";
import { accountRoutes, createAccountParts } from "../../src/resources/account-routes.ts";
import { withAudit } from "../../src/resources/audit/audit.ts";
import { createDocuments, type Documents } from "../../src/resources/declarative/documents.ts";
import { withDeclarative } from "../../src/resources/declarative/routes.ts";
import type { SecretSources } from "../../src/resources/declarative/secret-sources.ts";
import { withOpenApi } from "../../src/resources/openapi/routes.ts";
import { createOperations, type Operations, type OperationsDeps } from "../../src/resources/operations.ts";
import { alertmanagerRoute } from "../../src/resources/events/alertmanager.ts";
import { leakRoute } from "../../src/resources/leaks/routes.ts";
import { stripeRoutes } from "../../src/resources/stripe/routes.ts";
import { systemRoutes } from "../../src/resources/system/routes.ts";
import { createSetupState } from "../../src/resources/status/setup-routes.ts";
import { priceOptionDefaults } from "../../src/snapshot/option-defaults.ts";
import { createSnapshotStore, type LiveSnapshots } from "../../src/snapshot/refresh.ts";
import { createTokenCache } from "../../src/snapshot/tokens.ts";
import type { Database } from "../../src/storage/database.ts";
import { createLogWriter } from "../../src/storage/log-rows.ts";
import { isForbiddenHost } from "../../src/lib/net/outbound.ts";
import { createVault, type Vault } from "../../src/storage/secrets/secrets.ts";
import { ApiCaller } from "./api-caller.ts";
import { manualClock, migratedDatabase, quietLog, type ManualClock } from "./support.ts";

export interface ManagementAppSettings {
  readonly url: string;
  readonly clock?: ManualClock;
  readonly log?: Logger;
  readonly rules?: Partial<EdgeRules>;
  readonly hasWizard?: boolean;
  readonly setupToken?: string;
  /** RetryTimes of the new database; 0 if left out, so that tests count calls of upstreams. */
  readonly firstRetries?: number;
  readonly givesToken?: boolean;
  /** Further routes, for tests of the mount itself. */
  readonly routes?: readonly Route[];
  /** Parts of the day-to-day side that a test replaces. */
  readonly operations?: Partial<OperationsDeps>;
  readonly trustedProxies?: Parameters<typeof createHttpServer>[0]["trustedProxies"];
  readonly consoleDir?: string;
  readonly consoleProgress?: string;
  readonly publicUrl?: string;
  /** The secrets that documents may refer to. */
  readonly secrets?: SecretSources;
  readonly services?: Partial<SignInServices>;
}

export interface ManagementApp {
  readonly baseUrl: string;
  readonly database: Database;
  readonly vault: Vault;
  readonly clock: ManualClock;
  readonly identity: Identity;
  readonly snapshots: LiveSnapshots;
  readonly http: HttpServer;
  readonly operations: Operations;
  readonly documents: Documents;
  /** Subjects of the mails to the super administrator. */
  readonly notices: readonly string[];
  /** A caller without credentials. */
  anonymous(): ApiCaller;
  /** A caller who is signed in by password. */
  signIn(username: string, password?: string): Promise<ApiCaller>;
  /** Waits for mails and the like. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

export const ROOT_PASSWORD = "root password";
const VERSION = "0.1.0";
const NO_RULES: EdgeRules = { address: undefined, user: undefined, critical: undefined, web: undefined };

type Parts = Awaited<ReturnType<typeof createParts>>;

/** The management side over real HTTP on a free port, from the real parts; hashing is made cheap. */
export async function startManagementApp(settings: ManagementAppSettings): Promise<ManagementApp> {
  const parts = await createParts(settings);
  const { database, vault, clock, identity, snapshots, pending } = parts;
  const { operations, notices, closeUpstreams } = createDaily(parts, settings);
  for (const runnable of operations.runnables) await runnable.start();
  const accounts = createAccountParts(parts);
  const memory = new BodyMemory(0);
  const routes = [
    ...accountRoutes(accounts),
    ...operations.routes,
    ...systemRoutes({ ...parts, instance: "test", services: {}, running: { requests: 0, byChannel: () => new Map() } }),
    channelHealthRoute({
      breakers: createBreakers({ clock }),
      cooldowns: createCooldowns(clock),
      usageDoubts: createUsageDoubts(clock),
      now: clock.now,
    }),
    alertmanagerRoute({ ...parts, ...identity }),
    leakRoute({ ...parts, ...identity }),
    ...stripeRoutes({ ...parts, ...identity, wallet: operations.wallet }),
    ...(settings.routes ?? []),
  ];
  const documents = createDocuments({
    ...parts,
    ...identity,
    providers: allProviders,
    secrets: settings.secrets ?? { secretsDir: undefined, documentSecrets: {} },
  });
  const owned = withDeclarative(routes, { documents, clock });
  const http = await createHttpServer({
    requestTimeoutMs: 0,
    maxConnectionsPerAddress: 0,
    ...parts,
    metrics: createMetrics({ version: VERSION }),
    memory,
    scim: createScim({
      ...accounts,
      limiter: parts.limiter,
      memory,
      publicAddress: () => serverAddress(accounts.options(), accounts.publicUrl),
      onAnswered: () => undefined,
    }),
    routes: withOpenApi(withAudit(owned, parts), VERSION),
    credentials: identity.credentials,
    humanCheck: identity.humanCheck,
    rules: { ...NO_RULES, ...settings.rules },
    webRule: settings.rules?.web,
    trustedProxies: settings.trustedProxies ?? [],
    console: { dir: settings.consoleDir, progress: settings.consoleProgress, policy: () => "default-src 'self'" },
  });
  const baseUrl = `http://127.0.0.1:${await http.listen(0, "127.0.0.1")}`;
  const anonymous = () => new ApiCaller(baseUrl);
  const signIn = async (username: string, password = ROOT_PASSWORD) => {
    const caller = anonymous();
    await caller.signIn(username, password);
    return caller;
  };
  const settled = async () => void (await Promise.all(pending));
  const close = async () => {
    for (const runnable of operations.runnables) await runnable.stop();
    await http.close(0).closed;
    await closeUpstreams();
    await identity.outbound.close();
    await parts.webhooks.poster.close();
    await settled();
    await snapshots.stop();
    await database.close();
  };
  return {
    baseUrl,
    database,
    vault,
    clock,
    identity,
    snapshots,
    http,
    operations,
    documents,
    notices,
    anonymous,
    signIn,
    settled,
    close,
  };
}

async function createParts(settings: ManagementAppSettings) {
  const { url, clock = manualClock(), log = quietLog, hasWizard = false, firstRetries = 0 } = settings;
  const database = await migratedDatabase(url);
  const vault = createVault({ keys: [{ id: "k1", key: new Secret(randomBytes(32).toString("base64")) }] });
  const limiter = createMemoryLimiter(clock);
  const snapshots = createSnapshotStore({ database, vault, log, clock, pollMs: 3_600_000 });
  const passwords = createPasswords({ memoryKib: 64, passes: 1, lanes: 1 });
  const rootPassword = new Secret(ROOT_PASSWORD);
  const place = { version: VERSION, host: "127.0.0.1", setupToken: undefined, firstRetries };
  await firstStart({ ...place, database, passwords, clock, log, rootPassword, hasWizard });
  await snapshots.start();
  const options = () => snapshots.current().options;
  const sessionSecret = new Secret("0123456789abcdef");
  const services = { githubUrl: "", githubApiUrl: "", linuxdoUrl: "", turnstileUrl: "", ...settings.services };
  const stores = { database, vault, clock, limiter, options, sessionSecret, network: DIRECT };
  const identity = createIdentity({ ...stores, passwords, services });
  const setupState = createSetupState(database);
  await setupState.refresh();
  const ledger = createSqlLedger({ database: database.raw, clock, log });
  const pending = new Set<Promise<void>>();
  const background = (work: Promise<void>) => {
    pending.add(work);
    void work.finally(() => pending.delete(work));
  };
  return {
    options,
    database,
    vault,
    clock,
    log,
    limiter,
    snapshots,
    network: DIRECT,
    identity,
    setupState,
    pending,
    background,
    refusesHost: isForbiddenHost,
    ledger,
    webhooks: {
      database,
      vault,
      clock,
      log,
      metrics: createMetrics({ version: VERSION }),
      poster: createPoster({ network: DIRECT }),
      mailer: identity.mailer,
      options,
      serverAddress: () => "https://gw.example",
      random: Math.random,
    },
    budgets: createBudgets({ database: database.raw, reservations: ledger.budgets, log, onOutage: () => {} }),
    tokens: createTokenCache({ raw: database.raw, clock }),
    announce: snapshots.announce,
    writeLog: createLogWriter(false),
    optionDefaults: priceOptionDefaults(),
    version: VERSION,
    publicUrl: settings.publicUrl,
    firstRetries,
    setupToken: settings.setupToken === undefined ? undefined : new Secret(settings.setupToken),
    givesToken: settings.givesToken ?? false,
  };
}

/** The day-to-day side, with real calls to upstreams. */
function createDaily(parts: Parts, settings: ManagementAppSettings) {
  const { database, clock } = parts;
  const upstreams = createUpstreams({ connectTimeoutMs: 2_000, keepAliveMs: 1_000 });
  const notices: string[] = [];
  const newId = createIds(clock);
  const calls = {
    outputLimit: () => undefined,
    http: upstreams.json,
    now: clock.now,
    userAgent: "fairway-test",
    publicUrl: () => "https://ai.example.com",
    files: { read: () => Promise.reject(new Error("no files here")) },
    upstreams,
    probeTimeoutMs: 5_000,
  };
  const authenticator = createAuthenticator({
    ...parts,
    sessions: parts.identity.sessions,
    hashKey: parts.vault.hashKey,
  });
  const objects = createObjectStore({ raw: database.raw, clock: parts.clock });
  const call = () => Promise.reject(new Error("no upstream stores files here"));
  const stored = { store: objects, call, hashKey: rememberHashes(parts.vault.hashKey) };
  const operations = createOperations({
    ...parts,
    authenticator,
    logDatabase: database,
    providers: allProviders,
    probe: (channel, model) => probeChannel(channel, model, newId(), calls),
    onTested: () => {},
    probeBetas: (channel, model) => probeBetas(channel, model, newId(), calls),
    http: upstreams.json,
    notify: async (subject) => void notices.push(subject),
    imageUrl: (serverAddress, mjId) => `${serverAddress}/mj/image/${mjId}`,
    batchManagement: createBatchManagement({
      ...parts,
      upstream: createBatchUpstream({ ...calls, disableKeywords: () => [] }),
      counter: createTokenCounter(),
      metrics: createMetrics({ version: VERSION }),
      hashKey: parts.vault.hashKey,
      library: createLibrary({ ...parts, ...stored, adopt: () => Promise.resolve(undefined) }),
      random: Math.random,
    }),
    removeCache: () => Promise.resolve(),
    storedFiles: {
      objects,
      remove: async (object) => void (await objects.remove(object)),
      countRunning: () => new Map(),
      listMarks: (id) =>
        parts.snapshots
          .current()
          .channels.get(id)
          ?.keys.map((key) => markKey(key, parts.vault.hashKey)),
    },
    maxUserTokens: 1000,
    maxUploadBytes: 8 * 1_048_576,
    pollingSeconds: 0,
    ...settings.operations,
  });
  return { operations, notices, closeUpstreams: () => upstreams.close() };
}
