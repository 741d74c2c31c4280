import { createInterface } from "node:readline";
import { calling, labelled, readMessage, openCluster, send, type Cluster, type KubeOptions } from "./cluster.ts";
import { CliError, EXIT } from "../../core/exit.ts";
import type { Output } from "../../print/output.ts";

export interface LogOptions extends KubeOptions {
  readonly follow?: boolean;
  readonly since?: number;
  readonly tail: number;
  readonly container: string;
}

/** How often the list of pods is read while following. */
const PODS_MS = 2_000;

/** Prints the logs of all pods, each line with the pod in front. Follows pods that come and go. */
export async function showLogs(options: LogOptions, output: Output): Promise<void> {
  const cluster = await openCluster(options);
  await calling(cluster, async () => {
    const names = await listPods(cluster);
    if (names.length === 0)
      throw new CliError(
        `no pods with ${cluster.selector} in ${cluster.namespace}`,
        EXIT.notFound,
        "choose -n or --selector",
      );
    const reading = new Map(names.map((name) => [name, read(cluster, name, options, output)]));
    if (!options.follow) return void (await Promise.all(reading.values()));
    await followPods(cluster, options, output, reading);
  });
}

/** Ends when the last pod is removed. */
async function followPods(
  cluster: Cluster,
  options: LogOptions,
  output: Output,
  reading: Map<string, Promise<void>>,
): Promise<void> {
  while (reading.size > 0) {
    await new Promise((resolve) => setTimeout(resolve, PODS_MS));
    const names = await listPods(cluster);
    for (const name of reading.keys()) if (!names.includes(name)) reading.delete(name);
    for (const name of names) {
      if (reading.has(name)) continue;
      output.note(`${name} joins`);
      reading.set(name, read(cluster, name, { ...options, tail: -1 }, output));
    }
  }
}

async function listPods(cluster: Cluster): Promise<string[]> {
  const pods = await labelled<{ readonly metadata: { readonly name: string } }>(cluster, "/api/v1", "pods");
  return pods.map(({ metadata }) => metadata.name);
}

async function read(cluster: Cluster, pod: string, options: LogOptions, output: Output): Promise<void> {
  const { follow = false, since, tail, container } = options;
  const query = {
    container,
    follow: String(follow),
    ...(since !== undefined && { sinceSeconds: String(since) }),
    ...(tail >= 0 && { tailLines: String(tail) }),
  };
  try {
    const path = `/api/v1/namespaces/${cluster.namespace}/pods/${pod}/log`;
    for await (const line of createInterface(await send(cluster, { path, query }))) output.out(`${pod}  ${line}`);
  } catch (thrown) {
    output.note(`${pod}: ${readMessage(thrown) ?? "its log ended"}`);
  }
}
