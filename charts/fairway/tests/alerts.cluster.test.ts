// A gateway that follows a real API server: a resource that it cannot apply fires its alert.
import { join } from "node:path";
import { startGateway, type GatewayProcess } from "@fairway/testkit";
import { startCluster, type Cluster } from "@fairway/testkit/cluster";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readRules, untilFiring } from "./alert-kit.ts";
import { CHART } from "./helm.ts";
import { startPrometheus, type Prometheus } from "./prometheus.ts";

const DEFINITIONS = join(CHART, "../fairway-crds/templates");
let cluster: Cluster;
let gateway: GatewayProcess;
let prometheus: Prometheus;
const namespace = `alerts-${process.pid}`;

beforeAll(async () => {
  cluster = await startCluster();
  await cluster.kubectl("apply", "-f", DEFINITIONS);
  await cluster.kubectl("wait", "--for=condition=Established", "crd", "-l", "app.kubernetes.io/part-of=fairway");
  await cluster.kubectl("create", "namespace", namespace);
  gateway = await startGateway({
    env: {
      FAIRWAY_KUBERNETES_CONTROLLER: "true",
      FAIRWAY_KUBERNETES_NAMESPACES: namespace,
      FAIRWAY_KUBERNETES_CONFIG: cluster.kubeconfig,
    },
  });
  prometheus = await startPrometheus(gateway.adminUrl, { namespace: "models", pod: "gateway-0" }, readRules());
}, 300_000);
afterAll(async () => {
  await prometheus?.stop();
  await gateway?.stop();
  await cluster?.stop();
});

test("a channel with a setting that does not exist fires FairwayResourceNotSynced, with its name", async () => {
  const channel = (name: string, settings: object) => ({
    apiVersion: "fairway.dev/v1alpha1",
    kind: "Channel",
    metadata: { name },
    spec: { type: "openai", models: ["m"], settings },
  });
  await cluster.apply(JSON.stringify(channel("right", {})), "--namespace", namespace);
  await cluster.apply(JSON.stringify(channel("wrong", { limitz: 1 })), "--namespace", namespace);
  await untilFiring(prometheus, "FairwayResourceNotSynced");
  const found = await prometheus.query('ALERTS{alertname="FairwayResourceNotSynced"}');
  expect(found.map(({ metric }) => [metric["kind"], metric["exported_namespace"], metric["name"]])).toEqual([
    ["Channel", namespace, "wrong"],
  ]);
});
