import { DECLARATIVE_VERSION, type ResourceKind } from "@fairway/wire";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { startManagementApp, type ManagementApp } from "../../test/kit/management-app.ts";
import { signInMembers, type Members } from "../../test/kit/members.ts";
import { quietLog } from "../../test/kit/support.ts";
import { createSingleElector } from "../jobs/leader.ts";
import type { Runnable } from "../lib/async/runnable.ts";
import type { Logger } from "../observability/log.ts";
import { createMetrics } from "../observability/metrics.ts";
import { createBreakers } from "../relay/selection/breaker.ts";
import { createKeyOutcomes, describeTest } from "../relay/selection/key-outcomes.ts";
import type { KubeApi, KubeObject } from "./client/api.ts";
import type { Condition } from "./conditions.ts";
import { createController, type ControllerSettings } from "./controller.ts";
import { listPath, secretsPath } from "./resources.ts";
import { READABLE_LABEL } from "./secret-access.ts";

/** A cluster to which the tests write like `kubectl`. */
export interface ContractCluster {
  /** Connects the controller. */
  connect(): Promise<KubeApi>;
  /** Connects the tests, without the effect of `compact` and `setAway`. */
  direct(): Promise<KubeApi>;
  /** Longest time between two deletions of a test. */
  readonly settleMs: number;
  /** Creates an empty namespace. */
  namespace(): Promise<string>;
  remove(path: string): Promise<void>;
  /** Breaks all watches and removes their last versions. */
  compact(): Promise<void>;
  /** Begins or ends a time in which the server answers no controller. */
  setAway(isAway: boolean): Promise<void>;
  close(): Promise<void>;
}

export const never: AbortSignal = new AbortController().signal;
export const POLL = { timeout: 30_000, interval: 40 };

/** Returns the health of upstreams that were never called. */
export function createQuietHealth() {
  return { breakers: createBreakers({ clock: { now: () => Date.now() } }), keyOutcomes: createKeyOutcomes() };
}

/** Opens a gateway with a controller and a cluster for all tests of a file; each test gets its own namespace. */
export function useController(open: () => Promise<ContractCluster>): ControllerKit {
  const kit = new ControllerKit();
  beforeAll(async () => kit.open(await open()));
  afterAll(() => kit.close());
  beforeEach(() => kit.reset());
  afterEach(() => kit.stop());
  return kit;
}

class ControllerKit {
  cluster!: ContractCluster;
  api!: KubeApi;
  app!: ManagementApp;
  members!: Members;
  namespace!: string;
  readonly #health = createQuietHealth();
  readonly keyOutcomes = this.#health.keyOutcomes;
  readonly breakers = this.#health.breakers;
  #running: Runnable | undefined;

  async open(cluster: ContractCluster): Promise<void> {
    this.cluster = cluster;
    this.api = await cluster.direct();
    this.app = await startManagementApp({
      url: "sqlite::memory:",
      operations: {
        onTested: (channelId, keyIndex, result) => {
          const outcome = describeTest(result);
          if (outcome) this.keyOutcomes.observe(channelId, keyIndex, outcome);
        },
      },
    });
    this.members = await signInMembers(this.app);
  }

  async close(): Promise<void> {
    await this.api?.close();
    await this.app?.close();
    await this.cluster?.close();
  }

  async reset(): Promise<void> {
    for (const table of ["channels", "abilities", "tokens", "budgets", "options", "managed_resources"] as const)
      await this.app.database.db.deleteFrom(table).execute();
    await this.app.snapshots.refresh();
    this.namespace = await this.cluster.namespace();
  }

  readonly start = async (settings: Partial<ControllerSettings> = {}, log: Logger = quietLog): Promise<void> => {
    await this.stop();
    this.#running = this.create(this.app, settings, log);
    await this.#running.start();
  };

  /** Creates a controller for a gateway that follows the namespace of the test. */
  create(app: ManagementApp, settings: Partial<ControllerSettings>, log: Logger = quietLog): Runnable {
    return createController({
      documents: app.documents,
      snapshots: app.snapshots,
      elector: createSingleElector(),
      health: this.#health,
      clock: { now: () => Date.now() },
      log,
      metrics: createMetrics({ version: "0" }),
      connect: () => this.cluster.connect(),
      settings: {
        namespaces: [this.namespace],
        configFile: undefined,
        resyncSeconds: 600,
        drift: "enforce",
        hasFinalizers: true,
        deletions: { percent: 50 },
        secretNames: [],
        ownSecretNames: ["fairway-secrets"],
        gatewayName: "first",
        tokenOwners: { [this.namespace]: ["ann"] },
        settleMs: 400,
        readyMs: 200,
        startMs: 0,
        ...settings,
      },
    });
  }

  readonly stop = async (): Promise<void> => {
    await this.#running?.stop();
    this.#running = undefined;
  };

  readonly place = (kind: ResourceKind, name: string) => `${listPath(kind, this.namespace)}/${name}`;

  /** Creates a resource as kubectl, Argo CD and Flux do: a misspelt field is refused, not dropped with a warning. */
  readonly put = (kind: ResourceKind, name: string, spec: object, metadata: object = {}) => {
    const resource = { apiVersion: DECLARATIVE_VERSION, kind, metadata: { name, ...metadata }, spec };
    return this.api.create(`${listPath(kind, this.namespace)}?fieldValidation=Strict`, resource, never);
  };

  readonly channel = (name: string, spec: object = {}, metadata: object = {}) =>
    this.put("Channel", name, { type: "openai", models: ["m"], ...spec }, metadata);

  readonly secret = (name: string, data: Record<string, string>, labels: object = { [READABLE_LABEL]: "true" }) => {
    const object = { apiVersion: "v1", kind: "Secret", metadata: { name, labels }, data: base64(data) };
    return this.api.create(secretsPath(this.namespace), object, never);
  };

  readonly condition = async (
    kind: ResourceKind,
    name: string,
    type = "Programmed",
  ): Promise<Condition | undefined> => {
    const { status } = await this.api.get(this.place(kind, name), never);
    return (status as { conditions?: Condition[] } | undefined)?.conditions?.find((each) => each.type === type);
  };

  readonly untilCondition = (kind: ResourceKind, name: string, expected: Partial<Condition>, type = "Programmed") =>
    expect.poll(() => this.condition(kind, name, type), POLL).toMatchObject(expected);

  readonly annotate = (path: string, annotation: string, value: string) =>
    this.api.patch(path, { metadata: { annotations: { [annotation]: value } } }, never);

  readonly rows = () => this.app.database.db.selectFrom("channels").selectAll().orderBy("name").execute();

  readonly names = async () => (await this.rows()).map((row) => row.name);

  readonly readChannelKey = async (name: string) => {
    const row = (await this.rows()).find((each) => each.name === name);
    return row && this.app.operations.channels.store.findKey(row.id);
  };

  readonly events = async (reason: string) =>
    (await this.api.list({ path: `/api/v1/namespaces/${this.namespace}/events` }, never)).items.filter(
      (event) => (event as KubeObject & { readonly reason?: string }).reason === reason,
    );
}

export async function isThere(api: KubeApi, path: string): Promise<boolean> {
  return api.get(path, never).then(
    () => true,
    () => false,
  );
}

export function base64(data: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString("base64")]));
}
