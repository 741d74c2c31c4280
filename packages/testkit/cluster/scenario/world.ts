import { spawn } from "node:child_process";
import { globSync } from "node:fs";
import { join } from "node:path";
import { startServices, type Services } from "../../src/services.ts";
import { startUpstream, type Upstream } from "../../src/upstream/index.ts";
import { startNodeCluster, type NodeCluster } from "../cluster.ts";

const ROOT = join(import.meta.dirname, "../../../..");
export const CHART = join(ROOT, "charts/fairway");
export const NAMESPACE = "models";

/** Two real nodes with the image on both, and what the gateway needs outside the cluster. */
export interface World {
  readonly cluster: NodeCluster;
  readonly services: Services;
  readonly upstream: Upstream;
  /** Returns the address of a server of this machine as pods see it. */
  seen(url: string | undefined): string;
  stop(): Promise<void>;
}

export async function createWorld(): Promise<World> {
  const archive = await buildImage();
  const cluster = await startNodeCluster(2);
  const services = await startServices({ mariadb: true, postgres: true, redis: true });
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

/** Runs `npm run build -- --image`, which skips current programs. */
async function buildImage(): Promise<string> {
  const script = join(ROOT, "scripts/build.ts");
  const child = spawn(process.execPath, [script, "--stale", "--image"], { cwd: ROOT, stdio: "inherit" });
  const code = await new Promise((resolve) => child.once("close", resolve));
  const [archive] = globSync(join(ROOT, "dist/fairway-gateway-*.tar"));
  if (code !== 0 || !archive) throw new Error("the image was not built");
  return archive;
}
