// The part of an API server that forwards to pods. A plain one has no kubelet, so its port-forward leads nowhere.
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:https";
import { createConnection, type AddressInfo, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { text } from "node:stream/consumers";
import { dirname, join } from "node:path";
import { WebSocketServer, type WebSocket } from "ws";
import { createCertificates } from "./services/certificates.ts";

export interface PodServer {
  readonly kubeconfig: string;
  /** Ready pods, each with the local port that it leads to. */
  readonly pods: Map<string, number>;
  /** Path -> JSON of an object or list. Created and patched objects are stored here too. */
  readonly objects: Map<string, unknown>;
  /** Forbidden calls, such as `POST /api/v1/…`. */
  readonly forbidden: Set<string>;
  /** Breaks the connections to a pod, like the end of the pod. */
  end(pod: string): void;
  stop(): Promise<void>;
}

const FORWARD = /^\/api\/v1\/namespaces\/[^/]+\/pods\/([^/]+)\/portforward$/;
const PODS = /^\/api\/v1\/namespaces\/[^/]+\/pods$/;

/** The container port that pods report; the address behind it is the one in `pods`. */
const CONTAINER_PORT = 3000;

export async function startPodServer(): Promise<PodServer> {
  const certificates = await createCertificates();
  const folder = await mkdtemp(join(tmpdir(), "fairway-pods-"));
  const pods = new Map<string, number>();
  const objects = new Map<string, unknown>();
  const forbidden = new Set<string>();
  const open = new Map<WebSocket, string>();
  const tls = { cert: readFileSync(certificates.cert), key: readFileSync(certificates.key) };
  const server = createServer(tls, (request, response) => {
    const { pathname } = new URL(request.url ?? "", "https://localhost");
    const end = (status: number, body: unknown) => response.writeHead(status).end(JSON.stringify(body));
    if (forbidden.has(`${request.method} ${pathname}`)) return void end(403, { message: `${pathname} is forbidden` });
    if (request.method === "POST" || request.method === "PATCH")
      return void text(request).then((body) => {
        const sent = JSON.parse(body) as StoredObject;
        const isNew = request.method === "POST";
        const path = isNew ? `${pathname}/${sent.metadata.name}` : pathname;
        if (!isNew && !objects.has(path)) return void end(404, { message: `${path} was not found` });
        end(...stored(objects, path, isNew ? undefined : objects.get(path), sent));
      });
    const found = PODS.test(pathname) ? { items: [...pods.keys()].map(buildPod) } : objects.get(pathname);
    end(found === undefined ? 404 : 200, found ?? { message: `${pathname} was not found` });
  });
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: (all) => [...all][0] ?? false });
  server.on("upgrade", (request, socket, head) => {
    const { pathname } = new URL(request.url ?? "", "https://localhost");
    const [, pod = ""] = FORWARD.exec(pathname) ?? [];
    const port = pods.get(pod);
    if (port === undefined) return void socket.end("HTTP/1.1 404 Not Found\r\n\r\n");
    sockets.handleUpgrade(request, socket, head, (tunnel) => {
      open.set(tunnel, pod);
      tunnel.once("close", () => open.delete(tunnel));
      forward(tunnel, createConnection(port, "127.0.0.1"));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const kubeconfig = join(folder, "kubeconfig");
  const address = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await writeFile(kubeconfig, JSON.stringify(buildKubeconfig(address, certificates.ca)));
  return {
    kubeconfig,
    pods,
    objects,
    forbidden,
    end(pod) {
      pods.delete(pod);
      for (const [tunnel, its] of open) if (its === pod) tunnel.terminate();
    },
    async stop() {
      for (const tunnel of open.keys()) tunnel.terminate();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true });
      await rm(dirname(certificates.ca), { recursive: true });
    },
  };
}

interface StoredObject {
  readonly metadata: { readonly name?: string; readonly resourceVersion?: string };
  readonly data?: object;
}

/** Creates an object, or merges a patch into `before`; each write changes its version. */
function stored(objects: Map<string, unknown>, path: string, before: unknown, sent: StoredObject): [number, unknown] {
  const old = before as StoredObject | undefined;
  if (!old && objects.has(path)) return [409, { message: `${path} already exists` }];
  const { resourceVersion } = sent.metadata;
  if (old && resourceVersion !== undefined && resourceVersion !== old.metadata.resourceVersion)
    return [409, { message: `${path} has been modified` }];
  const version = String(Number(old?.metadata.resourceVersion ?? "0") + 1);
  const merged = {
    ...old,
    ...sent,
    metadata: { ...old?.metadata, ...sent.metadata, resourceVersion: version },
    data: { ...old?.data, ...sent.data },
  };
  objects.set(path, merged);
  return [old ? 200 : 201, merged];
}

/** Channel 0 is data and channel 1 errors; each begins with the number of the port, in little-endian order. */
function forward(tunnel: WebSocket, behind: Socket): void {
  const port = Buffer.alloc(2);
  port.writeUInt16LE(CONTAINER_PORT);
  for (const channel of [0, 1]) tunnel.send(Buffer.concat([Buffer.of(channel), port]));
  tunnel.on("message", (message: Buffer) => behind.write(message.subarray(1)));
  tunnel.once("close", () => behind.destroy());
  behind.on("data", (chunk: Buffer) => tunnel.send(Buffer.concat([Buffer.of(0), chunk])));
  behind.once("close", () => tunnel.close());
  behind.on("error", (error) => tunnel.send(Buffer.concat([Buffer.of(1), Buffer.from(error.message)])));
}

function buildPod(name: string): object {
  const ports = [{ name: "http", containerPort: CONTAINER_PORT }];
  return {
    metadata: { name },
    spec: { containers: [{ name: "gateway", ports }] },
    status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
  };
}

function buildKubeconfig(server: string, ca: string): object {
  return {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "test", cluster: { server, "certificate-authority": ca } }],
    users: [{ name: "admin", user: { token: "admin" } }],
    contexts: [{ name: "test", context: { cluster: "test", user: "admin", namespace: "ai" } }],
    "current-context": "test",
  };
}
