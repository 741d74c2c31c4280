// The API server itself dies and comes back, which no proxy in front of it shows.
import { startCluster, type Cluster } from "@fairway/testkit/cluster";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startManagementApp } from "../../test/kit/management-app.ts";
import { recordingLog } from "../../test/kit/support.ts";
import { createSingleElector } from "../jobs/leader.ts";
import { createMetrics } from "../observability/metrics.ts";
import { createController } from "./controller.ts";
import { createQuietHealth } from "./controller-kit.contract.ts";
import { DEFINITIONS } from "./schema-faults.contract.ts";

const place = "outage";
let cluster: Cluster;

beforeAll(async () => {
  cluster = await startCluster();
  await cluster.kubectl("apply", "-f", DEFINITIONS);
  await cluster.kubectl("wait", "--for=condition=Established", "crd", "-l", "app.kubernetes.io/part-of=fairway");
  await cluster.kubectl("create", "namespace", place);
}, 300_000);
afterAll(() => cluster?.stop());

test("an API server that is dead for 60 seconds costs one line of the log, and drift of that time is reverted", async () => {
  const app = await startManagementApp({ url: "sqlite::memory:" });
  const { log, lines } = recordingLog();
  const controller = createController({
    documents: app.documents,
    snapshots: app.snapshots,
    elector: createSingleElector(),
    health: createQuietHealth(),
    clock: { now: () => Date.now() },
    log,
    metrics: createMetrics({ version: "0" }),
    settings: {
      namespaces: [place],
      configFile: cluster.kubeconfig,
      resyncSeconds: 5,
      drift: "enforce",
      hasFinalizers: true,
      deletions: { percent: 50 },
      secretNames: ["openai"],
      ownSecretNames: [],
      gatewayName: "first",
      tokenOwners: {},
      startMs: 0,
    },
  });
  const spec = { type: "openai", models: ["m"], priority: 1 };
  const main = { apiVersion: "fairway.dev/v1alpha1", kind: "Channel", metadata: { name: "main" }, spec };
  await cluster.apply(JSON.stringify(main), "--namespace", place);
  await controller.start();
  const channel = "channel.fairway.dev/main";
  await cluster.kubectl("wait", "--for=condition=Programmed", channel, "--timeout=60s", "-n", place);
  await cluster.setApiServerAway(true);
  await app.database.db.updateTable("channels").set({ priority: 9 }).execute();
  await new Promise((resolve) => setTimeout(resolve, 60_000));
  await cluster.setApiServerAway(false);
  const patch = '{"spec":{"models":["m","n"]}}';
  await cluster.kubectl("patch", channel, "-n", place, "--type=merge", "-p", patch);
  const row = () => app.database.db.selectFrom("channels").select(["models", "priority"]).executeTakeFirst();
  await expect.poll(row, { timeout: 90_000 }).toEqual({ models: "m,n", priority: 1 });
  const events = () => cluster.kubectl("get", "events", "-n", place, "-o", "jsonpath={.items[*].reason}");
  await expect.poll(events, { timeout: 60_000 }).toContain("DriftReverted");
  const away = lines()
    .split("\n")
    .filter((line) => line.includes("the Kubernetes API server does not answer"));
  expect(away).toHaveLength(1);
  expect(
    lines()
      .split("\n")
      .filter((line) => line.includes('"level":"warn"')),
  ).toHaveLength(1);
  await controller.stop();
  await app.close();
}, 240_000);
