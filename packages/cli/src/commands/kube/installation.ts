import { systemReplicas, type Replica } from "@fairway/wire";
import type { V1Pod } from "@kubernetes/client-node";
import { calling, labelled, type Cluster } from "./cluster.ts";
import { CliError, EXIT } from "../../core/exit.ts";
import type { Session } from "../../session/session.ts";

/**
 * Returns the running processes of the gateway that the user is signed in to. Fails unless they are pods of the
 * cluster: the current contexts of the kubeconfig and of `fairway` may be two installations.
 */
export async function replicasIn(cluster: Cluster, { client, profile }: Session): Promise<Replica[]> {
  const [pods, { data }] = await Promise.all([
    calling(cluster, () => labelled<V1Pod>(cluster, "/api/v1", "pods")),
    client.call(systemReplicas, {}),
  ]);
  const names = new Set(pods.map(({ metadata }) => metadata?.name));
  const replicas = data.filter(({ is_lost: isLost }) => !isLost);
  if (replicas.some(({ instance }) => names.has(instance))) return replicas;
  throw new CliError(
    `${profile.server} is not the gateway in namespace ${cluster.namespace} of ${cluster.context}`,
    EXIT.usage,
    "choose -n and --kube-context, or the sign-in with -c; `fairway login --kube` signs in to that gateway",
  );
}
