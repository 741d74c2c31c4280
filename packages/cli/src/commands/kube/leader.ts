import { calling, openCluster, request, readStatus, type Cluster, type KubeOptions } from "./cluster.ts";
import { podStates } from "./status.ts";
import { EXIT } from "../../core/exit.ts";
import { isForPeople, printOne, type Output } from "../../print/output.ts";

interface Lease {
  readonly metadata: { readonly name: string };
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}

/** The name of a holder consists of its pod and a text that is never reused. */
const HOLDER = /^(.+)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Shows the leader that the pods report, and the Lease if there is one. Exit 1 if no pod says that it leads. */
export async function showLeader(options: KubeOptions, output: Output): Promise<void> {
  const cluster = await openCluster(options);
  const [pods, leases] = await calling(cluster, () => Promise.all([podStates(cluster), listLeases(cluster)]));
  const leaders = pods.flatMap(({ pod, leads }) => (leads === "yes" ? [pod] : []));
  const silent = pods.flatMap(({ pod, leads }) => (leads === "?" ? [pod] : []));
  const state = { leaders, silent, leases: leases.map(leaseState) };
  if (leaders.length === 0) process.exitCode = EXIT.failure;
  if (!isForPeople(output)) return printOne(output, state);
  const words: Record<string, string> = { leader: leaders.join(", ") || "no pod says that it leads" };
  if (silent.length > 0) words["without an answer"] = silent.join(", ");
  words["elected by"] = state.leases.length > 0 ? "a Lease, and a row of the database" : "a row of the database";
  for (const { name, holder, since, renewed, transitions } of state.leases)
    words[`lease ${name}`] =
      holder === "" ? "free" : `${holder} since ${since}, renewed ${renewed}, ${transitions} changes`;
  await printOne(output, state, { words });
}

function leaseState({ metadata, spec = {} }: Lease) {
  const { holderIdentity = "", acquireTime = "", renewTime = "", leaseTransitions = 0 } = spec;
  const holder = HOLDER.exec(holderIdentity)?.[1] ?? holderIdentity;
  return { name: metadata.name, holder, since: acquireTime, renewed: renewTime, transitions: leaseTransitions };
}

/** Lists Leases that gateways created: each has this label, but not the labels of the installation. */
async function listLeases(cluster: Cluster): Promise<Lease[]> {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${cluster.namespace}/leases`;
  const query = { labelSelector: "app.kubernetes.io/name=fairway" };
  try {
    return (await request<{ readonly items: Lease[] }>(cluster, { path, query })).items;
  } catch (thrown) {
    // The pods name the leader without it.
    if (readStatus(thrown) === 403) return [];
    throw thrown;
  }
}
