import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import type { V1Deployment, V1ObjectMeta, V1Pod, V2HorizontalPodAutoscaler } from "@kubernetes/client-node";
import {
  calling,
  KINDS,
  labelled,
  openCluster,
  readReadiness,
  request,
  listResources,
  send,
  type Cluster,
  type Kind,
  type KubeOptions,
} from "./cluster.ts";
import { plain, number } from "../../print/columns.ts";
import { isForPeople, printList, printOne, type Output, type Shape } from "../../print/output.ts";

export interface PodState {
  readonly pod: string;
  readonly state: string;
  readonly restarts: number;
  readonly node: string;
  readonly leads: string;
  readonly inflight: string;
}

interface ResourceState {
  readonly kind: string;
  readonly total: number;
  readonly ready: number;
}

interface Trouble {
  readonly resource: string;
  readonly reason: string;
  readonly message: string;
}

const ADMIN_PORT = 9090;
/** A pod that does not serve its metrics must not delay the rest. */
const METRICS_MS = 700;

const PODS: Shape<PodState> = {
  kind: "Pod",
  columns: [
    plain("POD", "pod"),
    plain("STATE", "state"),
    number("RESTARTS", "restarts"),
    plain("LEADS", "leads"),
    plain("INFLIGHT", "inflight"),
    plain("NODE", "node"),
  ],
  name: ({ pod }) => `pod/${pod}`,
};

const TROUBLES: Shape<Trouble> = {
  kind: "Resource",
  columns: [plain("RESOURCE", "resource"), plain("REASON", "reason"), plain("MESSAGE", "message")],
};

export async function showKubeStatus(options: KubeOptions, output: Output): Promise<void> {
  const cluster = await openCluster(options);
  const state = await calling(cluster, () => loadState(cluster));
  if (!isForPeople(output)) return printOne(output, state);
  const { deployments, pods, autoscalers, resources, troubles } = state;
  const words: Record<string, string> = {
    cluster: `${cluster.context} (${cluster.server}, Kubernetes ${state.version})`,
    namespace: cluster.namespace,
  };
  for (const one of deployments)
    words[`deployment ${one.name}`] =
      `${one.ready} of ${one.wanted} pods ready, ${one.updated} up to date, ${one.image}`;
  for (const one of autoscalers) words[`autoscaler ${one.name}`] = `${one.current} pods of ${one.min} to ${one.max}`;
  words["resources"] =
    resources === undefined
      ? "the cluster does not know these kinds: fairway kube crds install"
      : resources.map(({ kind, total, ready }) => `${kind} ${ready}/${total}`).join(", ");
  await printOne(output, state, { words });
  output.note("");
  await printList(output, { ...PODS, rows: pods, empty: "No pods: fairway kube doctor says why." });
  if (troubles.length === 0) return;
  output.note("\nNot ready:");
  await printList(output, { ...TROUBLES, rows: troubles, empty: "" });
}

async function loadState(cluster: Cluster) {
  const { namespace } = cluster;
  const [version, deployments, pods, autoscalers, resources] = await Promise.all([
    request<{ readonly gitVersion: string }>(cluster, { path: "/version" }),
    labelled<V1Deployment>(cluster, "/apis/apps/v1", "deployments"),
    podStates(cluster),
    labelled<V2HorizontalPodAutoscaler>(cluster, "/apis/autoscaling/v2", "horizontalpodautoscalers"),
    resourceStates(cluster),
  ]);
  return {
    context: cluster.context,
    server: cluster.server,
    namespace,
    version: version.gitVersion.replace(/^v/, ""),
    deployments: deployments.map(deploymentState),
    pods,
    autoscalers: autoscalers.map(autoscalerState),
    ...resources,
  };
}

function deploymentState({ metadata = {}, spec, status = {} }: V1Deployment) {
  const [container] = spec?.template.spec?.containers ?? [];
  const { readyReplicas: ready = 0, updatedReplicas: updated = 0 } = status;
  return { name: readName(metadata), wanted: spec?.replicas ?? 1, ready, updated, image: container?.image ?? "" };
}

function autoscalerState({ metadata = {}, spec, status }: V2HorizontalPodAutoscaler) {
  const [min, max] = [spec?.minReplicas ?? 1, spec?.maxReplicas ?? 0];
  return { name: readName(metadata), min, max, current: status?.currentReplicas ?? 0 };
}

export async function podStates(cluster: Cluster): Promise<PodState[]> {
  const pods = await labelled<V1Pod>(cluster, "/api/v1", "pods");
  return Promise.all(pods.map((pod) => podState(cluster, pod)));
}

async function podState(cluster: Cluster, pod: V1Pod): Promise<PodState> {
  const { metadata = {}, spec, status = {} } = pod;
  const name = readName(metadata);
  const state = readPodState(pod);
  const metrics = state === "ready" ? await loadMetrics(cluster, name) : undefined;
  const restarts = (status.containerStatuses ?? []).reduce((sum, one) => sum + one.restartCount, 0);
  return { pod: name, state, restarts, node: spec?.nodeName ?? "", ...readActivity(metrics) };
}

/** Shows a question mark if the pod did not answer. */
function readActivity(metrics: Readonly<Record<string, number>> | undefined): Pick<PodState, "leads" | "inflight"> {
  if (!metrics) return { leads: "?", inflight: "?" };
  const { fairway_leader: leader, fairway_inflight_requests: inflight = 0 } = metrics;
  return { leads: leader === 1 ? "yes" : "", inflight: String(inflight) };
}

function readPodState({ metadata, status = {} }: V1Pod): string {
  if (metadata?.deletionTimestamp) return "draining";
  const { conditions = [], containerStatuses = [], phase = "unknown" } = status;
  if (conditions.some((one) => one.type === "Ready" && one.status === "True")) return "ready";
  return containerStatuses.flatMap(({ state }) => state?.waiting?.reason ?? [])[0] ?? phase;
}

function readName({ name = "" }: V1ObjectMeta): string {
  return name;
}

/** Reads metrics through the API server; undefined if that is not permitted or the pod is silent. */
async function loadMetrics(cluster: Cluster, pod: string): Promise<Record<string, number> | undefined> {
  const path = `/api/v1/namespaces/${cluster.namespace}/pods/${pod}:${ADMIN_PORT}/proxy/metrics`;
  const call = send(cluster, { path })
    .then(text)
    .then((lines) => Object.fromEntries(lines.split("\n").flatMap(parseSample)))
    .catch(() => undefined);
  return Promise.race([call, pause(METRICS_MS, undefined, { ref: false })]);
}

function parseSample(line: string): [string, number][] {
  const [, name, value] = /^(\w+)(?:\{[^}]*\})? (\S+)$/.exec(line) ?? [];
  return name === undefined || value === undefined ? [] : [[name, Number(value)]];
}

async function resourceStates(
  cluster: Cluster,
): Promise<{ readonly resources: ResourceState[] | undefined; readonly troubles: Trouble[] }> {
  const kinds = Object.keys(KINDS) as Kind[];
  const lists = await Promise.all(kinds.map(async (kind) => ({ kind, items: await listResources(cluster, kind) })));
  if (lists.every(({ items }) => items === undefined)) return { resources: undefined, troubles: [] };
  const troubles: Trouble[] = [];
  const resources = lists.map(({ kind, items = [] }) => {
    let ready = 0;
    for (const item of items) {
      const { isReady, isSuspended, reason, message } = readReadiness(item);
      if (isReady) ready += 1;
      else if (!isSuspended) troubles.push({ resource: `${kind}/${item.metadata.name}`, reason, message });
    }
    return { kind, total: items.length, ready };
  });
  return { resources, troubles };
}
