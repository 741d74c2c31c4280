import { randomBytes } from "node:crypto";
import { createSqlLedger } from "../src/billing/ledger-sql.ts";
import { createHttpServer, type HttpServer } from "../src/http/server.ts";
import type { Route } from "../src/http/endpoint.ts";
import { createIdentity, type Identity } from "../src/identity/identity.ts";
import { firstStart } from "../src/identity/first-start.ts";
import { createPasswords } from "../src/identity/passwords.ts";
import { Secret } from "../src/lib/secret.ts";
import { createMemoryLimiter } from "../src/limits/limiter-memory.ts";
import type { EdgeRules } from "../src/limits/rules.ts";
import type { Logger } from "../src/observability/log.ts";
import { applyChange } from "../src/billing/sql-change.ts";
import { createIds } from "../src/lib/ids.ts";
import { allProviders } from "../src/providers/registry.ts";
import { probeChannel } from "../src/relay/probe.ts";
import { createUpstreams } from "../src/relay/upstream.ts";
import { accountRoutes } from "../src/resources/account-routes.ts";
import { createOperations, type Operations, type OperationsDeps } from "../src/resources/operations.ts";
import { createSetupState } from "../src/resources/status/setup-routes.ts";
import { priceOptionDefaults } from "../src/snapshot/option-defaults.ts";
import { createSnapshotStore, type LiveSnapshots } from "../src/snapshot/refresh.ts";
import { createTokenCache } from "../src/snapshot/tokens.ts";
import type { Database } from "../src/storage/database.ts";
import { createLogWriter } from "../src/storage/log-rows.ts";
import { createVault } from "../src/storage/secrets.ts";
import { ApiCaller } from "./api-caller.ts";
import { manualClock, migratedDatabase, quietLog, type ManualClock } from "./support.ts";

export interface ManagementAppSettings {
  readonly url: string;
  readonly clock?: ManualClock;
  readonly log?: Logger;
  readonly rules?: Partial<EdgeRules>;
  readonly hasWizard?: boolean;
  readonly setupToken?: string;
  readonly givesToken?: boolean;
  /** Further routes, for tests of the mount itself. */
  readonly routes?: readonly Route[];
  /** Parts of the day-to-day side that a test replaces. */
  readonly operations?: Partial<OperationsDeps>;
  readonly trustedProxies?: Parameters<typeof createHttpServer>[0]["trustedProxies"];
  readonly consoleDir?: string;
}

export interface ManagementApp {
  readonly baseUrl: string;
  readonly database: Database;
  readonly clock: ManualClock;
  readonly identity: Identity;
  readonly snapshots: LiveSnapshots;
  readonly http: HttpServer;
  readonly operations: Operations;
  /** Subjects of the mails to the super administrator. */
  readonly notices: readonly string[];
  /** Somebody without credentials. */
  anonymous(): ApiCaller;
  /** Somebody who is signed in by password. */
  signIn(username: string, password?: string): Promise<ApiCaller>;
  /** Waits for mails and the like. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

export const ROOT_PASSWORD = "root password";
const NO_RULES: EdgeRules = { address: undefined, user: undefined, critical: undefined, web: undefined };

/** The management side over real HTTP on a free port, from the real parts; hashing is made cheap. */
export async function startManagementApp(settings: ManagementAppSettings): Promise<ManagementApp> {
  const { url, clock = manualClock(), log = quietLog, hasWizard = false } = settings;
  const database = await migratedDatabase(url);
  const vault = createVault({ keys: [{ id: "k1", key: new Secret(randomBytes(32).toString("base64")) }] });
  const limiter = createMemoryLimiter(clock);
  const snapshots = createSnapshotStore({ database, vault, log, pollMs: 3_600_000 });
  const passwords = createPasswords({ memoryKib: 64, passes: 1, lanes: 1 });
  const rootPassword = new Secret(ROOT_PASSWORD);
  await firstStart({ database, passwords, clock, log, version: "0.1.0", host: "127.0.0.1", rootPassword, hasWizard });
  await snapshots.start();
  const options = () => snapshots.current().options;
  const sessionSecret = new Secret("0123456789abcdef");
  const identity = createIdentity({ database, clock, limiter, options, sessionSecret, passwords });
  const setupState = createSetupState(database);
  await setupState.refresh();
  const pending = new Set<Promise<void>>();
  const ledger = createSqlLedger({ database: database.raw, clock, log });
  const deps = {
    ...{ database, vault, clock, log, identity, ledger, snapshots, setupState },
    tokens: createTokenCache({ raw: database.raw, clock }),
    announce: snapshots.announce,
    writeLog: createLogWriter(false),
    optionDefaults: priceOptionDefaults(),
    version: "0.1.0",
    publicUrl: undefined,
    setupToken: settings.setupToken === undefined ? undefined : new Secret(settings.setupToken),
    givesToken: settings.givesToken ?? false,
    background: (work: Promise<void>) => {
      pending.add(work);
      void work.finally(() => pending.delete(work));
    },
  };
  const upstreams = createUpstreams({ connectTimeoutMs: 2_000, keepAliveMs: 1_000 });
  const notices: string[] = [];
  const newId = createIds(clock);
  const calls = { http: upstreams.json, now: clock.now, userAgent: "fairway-test" };
  const operations = createOperations({
    ...deps,
    logDatabase: database,
    changeBalance: (work) =>
      database.raw.transaction(async (tx) => {
        const change = await work(tx);
        if (change) await applyChange(tx, change, { kind: database.kind, at: clock.now() });
      }),
    providers: allProviders,
    probe: (channel, model) => probeChannel(channel, model, newId(), { ...calls, upstreams }),
    http: upstreams.json,
    notify: async (subject) => void notices.push(subject),
    imageUrl: (serverAddress, mjId) => `${serverAddress || "http://localhost:3000"}/mj/image/${mjId}`,
    maxUserTokens: 1000,
    pollingSeconds: 0,
    ...settings.operations,
  });
  const http = await createHttpServer({
    routes: [...accountRoutes(deps), ...operations.routes, ...(settings.routes ?? [])],
    credentials: identity.credentials,
    humanCheck: () => Promise.resolve(),
    limiter,
    rules: { ...NO_RULES, ...settings.rules },
    webRule: settings.rules?.web,
    log,
    clock,
    trustedProxies: settings.trustedProxies ?? [],
    console: { dir: settings.consoleDir, policy: () => "default-src 'self'" },
  });
  const baseUrl = `http://127.0.0.1:${await http.listen(0, "127.0.0.1")}`;
  const anonymous = () => new ApiCaller(baseUrl);
  return {
    ...{ baseUrl, database, clock, identity, snapshots, http, operations, notices, anonymous },
    async signIn(username, password = ROOT_PASSWORD) {
      const caller = anonymous();
      await caller.signIn(username, password);
      return caller;
    },
    async settled() {
      await Promise.all(pending);
    },
    async close() {
      for (const runnable of operations.runnables) await runnable.stop();
      await http.close();
      await upstreams.close();
      await Promise.all(pending);
      await snapshots.stop();
      await database.close();
    },
  };
}
