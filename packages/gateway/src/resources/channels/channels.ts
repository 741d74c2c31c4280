import { ROLE } from "@fairway/wire";
import type { BatchManagement } from "../../batches/management/management.ts";
import type { Database } from "../../storage/database.ts";
import type { Route } from "../../http/endpoint.ts";
import type { Clock } from "../../lib/clock.ts";
import type { ChannelRecord, HttpJson, ProviderAdapter } from "../../providers/core/types.ts";
import type { ProbeResult } from "../../relay/pipeline/probe.ts";
import type { Snapshot } from "../../snapshot/types.ts";
import type { WriteLog } from "../../storage/log-rows.ts";
import type { JobRunner, StartedJob } from "../jobs/runner.ts";
import { buildCatalogue, isChannelType } from "../models/catalogue.ts";
import type { Announce, Vault } from "../ports.ts";
import { bulkRoutes } from "./bulk.ts";
import { createChannelChecks, disableChannel, type ChannelChecks, type ChannelChecksDeps } from "./checks.ts";
import { deleteRoutes } from "./delete-routes.ts";
import { channelRoutes } from "./routes.ts";
import { filterRoutes, type ProbeBetas } from "./filters/routes.ts";
import { keyRoutes } from "./keys/routes.ts";
import { multiKeyRoute } from "./keys/multi-key-route.ts";
import type { RefusesHost } from "./destination.ts";
import { createChannelStore, type ChannelStore } from "./store.ts";
import { createTestLog, type Tester } from "./test-log.ts";
import { upstreamRoutes } from "./upstream-routes.ts";
import { createChannelUpstream, type ChannelUpstreamDeps } from "./upstream.ts";

/** Names of the two jobs; at most one of each runs in the whole cluster. */
const TEST_JOB = "channel-test";
const BALANCE_JOB = "channel-balance";

export interface ChannelsDeps extends Pick<ChannelChecksDeps, "notify" | "pauseSeconds"> {
  readonly options: () => ReturnType<ChannelChecksDeps["options"]> & ReturnType<ChannelUpstreamDeps["options"]>;
  readonly database: Database;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly announce: Announce;
  readonly writeLog: WriteLog;
  readonly snapshots: { current(): Snapshot };
  readonly jobs: JobRunner;
  readonly providers: readonly ProviderAdapter[];
  readonly probe: (channel: ChannelRecord, model: string | undefined) => Promise<ProbeResult>;
  /** Receives the result of each test of a saved channel's key. */
  readonly onTested: (channelId: number, keyIndex: number, result: ProbeResult) => void;
  readonly probeBetas: ProbeBetas;
  readonly http: HttpJson;
  readonly refusesHost: RefusesHost;
  readonly batchManagement: Pick<BatchManagement, "cancelAll">;
}

export interface Channels {
  readonly routes: Route[];
  readonly store: ChannelStore;
  readonly checks: ChannelChecks;
  /**
   * Starts a test of all channels, for the schedule unless a user starts it; returns undefined while a test runs on any
   * replica.
   */
  testAll(tester?: Tester): Promise<StartedJob | undefined>;
  /** Starts a refresh of all balances; `startedBy` 0 means the schedule. */
  refreshBalances(startedBy: number): Promise<StartedJob | undefined>;
  /**
   * Disables a channel after failures of live requests: changes its status from 1 to 3, stores the reason and sends one
   * mail. Returns false if it was not enabled. If the channel has several keys, `key` is the failed one: only this key
   * is disabled, and the channel only with its last key.
   */
  disable(id: number, reason: string, key?: string): Promise<boolean>;
  /** Sends a small request through a channel on behalf of the schedule; returns whether it passed. */
  testOne(id: number): Promise<boolean>;
  readNames(ids: readonly number[]): Promise<ReadonlyMap<number, string>>;
  /** Returns the names of all channels, in the order of their ids. */
  readAllNames(): Promise<ReadonlyMap<number, string>>;
}

/** Creates the routes and jobs of channels. */
export function createChannels(deps: ChannelsDeps): Channels {
  const cancelBatches = deps.batchManagement.cancelAll;
  const store = createChannelStore(deps);
  const byType = new Map(deps.providers.map((provider) => [provider.type, provider]));
  const providerByType = (type: number) => byType.get(type);
  const isType = (type: number) => isChannelType(type, byType);
  const upstream = createChannelUpstream({ ...deps, store, isType, providerByType });
  const logTest = createTestLog({ ...deps, raw: deps.database.raw });
  const checks = createChannelChecks({ ...deps, store, upstream, logTest, providerByType });
  const testAll = (tester?: Tester) =>
    deps.jobs.run({
      name: TEST_JOB,
      startedBy: tester?.userId ?? 0,
      run: async (control) => checks.testAll(control, tester ?? (await superAdministrator(deps.database))),
    });
  const refreshBalances = (startedBy: number) =>
    deps.jobs.run({ name: BALANCE_JOB, startedBy, run: checks.balanceAll });
  return {
    store,
    checks,
    testAll,
    refreshBalances,
    disable: (id, reason, key) => disableChannel({ ...deps, store }, { id, reason, key }),
    routes: [
      ...keyRoutes({ ...deps, store, cancelBatches }),
      multiKeyRoute({ ...deps, store, cancelBatches }),
      ...channelRoutes({ store, isType, catalogue: buildCatalogue(deps.providers) }),
      ...deleteRoutes({ store, cancelBatches }),
      ...upstreamRoutes({ ...deps, store, upstream, logTest, testAll, refreshBalances }),
      ...filterRoutes({ ...deps, upstream, logTest }),
      ...bulkRoutes({ store, isType, upstream, logTest, cancelBatches }),
    ],
    async testOne(id) {
      const result = await upstream.test(id, undefined);
      await logTest(id, await superAdministrator(deps.database), result);
      return result.isOk;
    },
    async readNames(ids) {
      const rows = await deps.database.db
        .selectFrom("channels")
        .select(["id", "name"])
        .where("id", "in", ids)
        .execute();
      return new Map(rows.map(({ id, name }) => [id, name]));
    },
    async readAllNames() {
      const rows = await deps.database.db.selectFrom("channels").select(["id", "name"]).orderBy("id").execute();
      return new Map(rows.map(({ id, name }) => [id, name]));
    },
  };
}

/** Returns the user on whose behalf the schedule tests. */
async function superAdministrator({ db }: Database): Promise<Tester> {
  const root = db.selectFrom("users").select(["id", "username"]).where("role", "=", ROLE.root).orderBy("id");
  const row = await root.executeTakeFirst();
  return { userId: row?.id ?? 0, username: row?.username ?? "" };
}
