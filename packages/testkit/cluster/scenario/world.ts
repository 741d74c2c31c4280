import { join } from "node:path";
import { startRedis, startServices, type Services } from "../../src/services.ts";
import { startUpstream, type Upstream } from "../../src/upstream/index.ts";
import { startNodeCluster, type NodeCluster } from "../cluster.ts";
import { buildImage } from "../image.ts";

const ROOT = join(import.meta.dirname, "../../../..");
export const CHART = join(ROOT, "charts/fairway");
export const NAMESPACE = "models";

/** Real nodes with the image on each, and what the gateway needs outside the cluster. */
export interface World {
  readonly cluster: NodeCluster;
  readonly services: Services;
  readonly upstream: Upstream;
  /** Returns the address of a server of this machine as pods see it. */
  seen(url: string | undefined): string;
  stop(): Promise<void>;
}

interface WorldSettings {
  readonly nodes?: number;
  /** Without one, Redis requires no password. */
  readonly redisPassword?: string;
}

export async function createWorld({ nodes = 2, redisPassword }: WorldSettings = {}): Promise<World> {
  const archive = await buildImage();
  const cluster = await startNodeCluster(nodes);
  const services = await startServers(redisPassword);
  const upstream = await startUpstream();
  const exposed = [services.mariadb?.url, services.postgres?.url, services.redis?.url, upstream.url];
  const hosts = new Map<string, string>();
  const stop = async () => {
    await cluster.stop();
    await Promise.all([services.stop(), upstream.stop()]);
  };
  try {
    for (const url of exposed) {
      const { host, port } = new URL(url ?? "");
      hosts.set(host, await cluster.expose(Number(port)));
    }
    await cluster.load(archive);
    await cluster.kubectl("create", "namespace", NAMESPACE);
    await cluster.kubectl("label", "namespace", NAMESPACE, "pod-security.kubernetes.io/enforce=restricted");
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    cluster,
    services,
    upstream,
    seen: (url = "") => url.replace(new URL(url).host, (host) => hosts.get(host) ?? host),
    stop,
  };
}

async function startServers(redisPassword: string | undefined): Promise<Services> {
  if (redisPassword === undefined) return startServices({ mariadb: true, postgres: true, redis: true });
  const databases = await startServices({ mariadb: true, postgres: true });
  const redis = await startRedis({ password: redisPassword });
  const stop = async () => void (await Promise.all([databases.stop(), redis.stop()]));
  return { ...databases, redis, stop };
}
