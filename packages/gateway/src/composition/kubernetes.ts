import type { Elector } from "../jobs/leader.ts";
import { podNamespace } from "../kubernetes/client/api-server.ts";
import { createController } from "../kubernetes/controller.ts";
import type { UpstreamHealth } from "../kubernetes/serving.ts";
import type { Runnable } from "../lib/async/runnable.ts";
import type { Core } from "./core.ts";
import type { Management } from "./management.ts";
import { StartError } from "./storage.ts";

/** Creates the controller of custom resources, if it is enabled. */
export function createKubernetesRunnables(
  { env, clock, log, metrics, snapshots }: Core,
  { documents }: Management,
  { elector, health }: { readonly elector: Elector; readonly health: UpstreamHealth },
): Runnable[] {
  if (!env.kubernetesController) return [];
  return [
    createController({
      documents,
      snapshots,
      elector,
      health,
      clock,
      log,
      metrics,
      settings: {
        namespaces: env.kubernetesNamespaces.length > 0 ? env.kubernetesNamespaces : [ownNamespace()],
        configFile: env.kubernetesConfig,
        resyncSeconds: env.kubernetesResyncSeconds,
        drift: env.kubernetesDrift,
        hasFinalizers: env.kubernetesFinalizers,
        deletions: env.kubernetesMaxDeletions,
        secretNames: env.kubernetesSecrets,
        ownSecretNames: env.kubernetesOwnSecrets,
        gatewayName: env.kubernetesGateway,
        tokenOwners: env.kubernetesTokenOwners,
      },
    }),
  ];
}

function ownNamespace(): string {
  const namespace = podNamespace();
  if (namespace !== undefined) return namespace;
  throw new StartError(
    "FAIRWAY_KUBERNETES_CONTROLLER is on outside of a pod: name the namespaces in FAIRWAY_KUBERNETES_NAMESPACES and a kubeconfig in FAIRWAY_KUBERNETES_CONFIG, or switch it off",
  );
}
