import { afterAll, beforeAll, expect, it } from "vitest";
import { startNodeCluster, type NodeCluster } from "./cluster.ts";
import { PAUSE_IMAGE } from "./programs.ts";

let cluster: NodeCluster;
beforeAll(async () => {
  cluster = await startNodeCluster(2);
});
afterAll(() => cluster?.stop());

it("runs the pods of a Deployment on both nodes", async () => {
  const labels = { app: "idle" };
  const spread = {
    maxSkew: 1,
    topologyKey: "kubernetes.io/hostname",
    whenUnsatisfiable: "DoNotSchedule",
    labelSelector: { matchLabels: labels },
  };
  await cluster.apply(
    JSON.stringify({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "idle" },
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { topologySpreadConstraints: [spread], containers: [{ name: "idle", image: PAUSE_IMAGE }] },
        },
      },
    }),
  );
  await cluster.kubectl("rollout", "status", "deployment/idle", "--timeout=90s");
  const nodes = await cluster.kubectl("get", "pods", "-o", "jsonpath={.items[*].spec.nodeName}");
  expect(nodes.split(" ").toSorted()).toEqual(["n1", "n2"]);
});
