// A proxy to the API server, for tests that cut its connections.
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { createConnection, createServer, isIP, type AddressInfo, type Socket } from "node:net";
import { join } from "node:path";
import type { Cluster } from "@fairway/testkit/cluster";

interface Config {
  readonly clusters: readonly [{ readonly name: string; readonly cluster: { readonly server: string } }];
  readonly users: readonly { readonly name: string; readonly user: object }[];
}

export async function readKubeConfig({ kubectl }: Cluster): Promise<Config> {
  return JSON.parse(await kubectl("config", "view", "--raw", "--minify", "-o", "json")) as Config;
}

/** Writes a file of kubectl into the folder; returns its path. */
export function writeKubeConfig(folder: string, config: object): string {
  const file = join(folder, `kubeconfig-${randomUUID()}`);
  writeFileSync(file, JSON.stringify(config));
  return file;
}

/** Opens a proxy to the API server that can be cut, stopped and started. */
export async function openLine(cluster: Cluster, folder: string) {
  const config = await readKubeConfig(cluster);
  const [{ cluster: target }] = config.clusters;
  const { hostname, port: targetPort } = new URL(target.server);
  const open = new Set<Socket>();
  const listener = createServer((near) => {
    const far = createConnection(Number(targetPort || 443), hostname);
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on("error", () => socket.destroy());
      socket.once("close", () => [near, far].forEach((one) => (one.destroy(), open.delete(one))));
    }
    near.pipe(far).pipe(near);
  });
  const up = (port: number) => new Promise<void>((resolve) => listener.listen(port, "127.0.0.1", () => resolve()));
  await up(0);
  const { port } = listener.address() as AddressInfo;
  const server = `https://127.0.0.1:${port}`;
  const clusters = [
    {
      ...config.clusters[0],
      cluster: { ...target, server, ...(isIP(hostname) === 0 && { "tls-server-name": hostname }) },
    },
  ];
  const cut = () => open.forEach((socket) => socket.destroy());
  const down = () =>
    new Promise<void>((resolve) => {
      listener.close(() => resolve());
      cut();
    });
  return { kubeconfig: writeKubeConfig(folder, { ...config, clusters }), cut, down, up: () => up(port) };
}
