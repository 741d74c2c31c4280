import { join } from "node:path";
import type { Clients } from "./clients.ts";
import type { ProcessHost } from "./process-host.ts";

export interface FakeNodes {
  readonly host: ProcessHost;
  readonly programs: string;
  readonly kubeconfig: string;
  readonly clients: Clients;
  readonly count: number;
}

/** Adds nodes of kwok: pods are scheduled and become ready, but nothing runs. */
export async function addFakeNodes({ host, programs, kubeconfig, clients, count }: FakeNodes): Promise<void> {
  host.start("kwok", join(programs, "kwok"), [
    `--kubeconfig=${kubeconfig}`,
    `--config=${join(programs, "kwok-stages.yaml")}`,
    "--manage-all-nodes=true",
    "--node-lease-duration-seconds=40",
  ]);
  const items = Array.from({ length: count }, (_, index) => buildNode(`fake-${index + 1}`, `zone-${index % 3}`));
  await clients.apply(JSON.stringify({ apiVersion: "v1", kind: "List", items }));
  await clients.kubectl("wait", "--for=condition=Ready", "node", "--all", "--timeout=60s");
}

function buildNode(name: string, zone: string) {
  const size = {
    "ephemeral-storage": "100Gi",
    cpu: "8",
    memory: "16Gi",
    pods: "110",
  };
  const labels = {
    "kubernetes.io/hostname": name,
    "kubernetes.io/os": "linux",
    "topology.kubernetes.io/zone": zone,
  };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels },
    status: { allocatable: size, capacity: size },
  };
}
