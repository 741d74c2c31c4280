import { KubeConfig } from "@kubernetes/client-node";
import type { ApiServer } from "./api-server.ts";

/** Returns the API server of a kubeconfig's current context, with all its authentication methods. */
export function kubeconfigServer(file: string): ApiServer {
  const config = new KubeConfig();
  config.loadFromFile(file);
  const cluster = config.getCurrentCluster();
  if (!cluster) throw new Error(`the kubeconfig ${file} names no current cluster: set current-context`);
  return {
    server: cluster.server.replace(/\/$/, ""),
    namespace: config.getContextObject(config.getCurrentContext())?.namespace,
    async sign() {
      const options: Parameters<KubeConfig["applyToHTTPSOptions"]>[0] & { servername?: string } = {};
      await config.applyToHTTPSOptions(options);
      const { ca, cert, key, rejectUnauthorized, servername } = options;
      const tls = Object.fromEntries(
        Object.entries({ ca, cert, key, rejectUnauthorized, servername }).filter(([, value]) => value !== undefined),
      );
      return { headers: options.headers as Record<string, string>, tls };
    },
  };
}
