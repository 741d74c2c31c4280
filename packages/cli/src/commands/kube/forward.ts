import { once } from "node:events";
import type { RequestOptions } from "node:https";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { V1Pod } from "@kubernetes/client-node";
import { WebSocket } from "ws";
import { labelled, openCluster, type Cluster, type KubeOptions } from "./cluster.ts";
import { CliError, readErrorCode, EXIT } from "../../core/exit.ts";
import type { Output } from "../../print/output.ts";

export interface ForwardOptions extends KubeOptions {
  readonly admin?: boolean;
  readonly pod?: string;
}

export interface ForwardSettings {
  /** The local port; 0 = any free one. */
  readonly local: number;
  /** Name of the container's port. */
  readonly port: "http" | "admin";
  /** The only pod to use; undefined = any ready one. */
  readonly pod?: string | undefined;
  note(text: string): void;
}

export interface Forward {
  readonly local: number;
  close(): void;
}

const DEFAULT_LOCAL = { http: 3000, admin: 9090 } as const;
/** How long a new connection waits for a ready pod. */
const READY_MS = 60_000;
const RETRY_MS = 500;
/** How many bytes may be on their way to the cluster before the client is paused. */
const MAX_WAITING_BYTES = 1_000_000;
/** The data and error channels of the one port; each begins with the two bytes of its number. */
const [DATA, ERRORS] = [0, 1];
const PROTOCOL = "v4.channel.k8s.io";

/** Forwards until interrupted. */
export async function runForward(local: number | undefined, options: ForwardOptions, output: Output): Promise<void> {
  const cluster = await openCluster(options);
  const port = options.admin ? "admin" : "http";
  const forward = await openForward(cluster, {
    local: local ?? DEFAULT_LOCAL[port],
    port,
    pod: options.pod,
    note: (text) => output.note(text),
  });
  output.note(`http://127.0.0.1:${forward.local} leads to ${cluster.namespace} in ${cluster.context}; Ctrl+C ends it.`);
  await new Promise(() => {});
}

/**
 * Each connection goes to a pod that is ready when it begins. If that pod ends, the connection breaks and the next one
 * finds another pod.
 */
export async function openForward(cluster: Cluster, settings: ForwardSettings): Promise<Forward> {
  const forwarder = new Forwarder(cluster, settings);
  await forwarder.choose();
  const server = createServer({ allowHalfOpen: true }, (socket) => void forwarder.join(socket));
  try {
    await once(server.listen(settings.local, "127.0.0.1"), "listening");
  } catch (cause) {
    if (readErrorCode(cause) !== "EADDRINUSE") throw cause;
    throw new CliError(
      `port ${settings.local} is in use`,
      EXIT.failure,
      "give another one: fairway kube port-forward 3001",
    );
  }
  return { local: (server.address() as AddressInfo).port, close: () => (server.close(), forwarder.close()) };
}

interface Target {
  readonly pod: string;
  readonly port: number;
}

class Forwarder {
  readonly #cluster: Cluster;
  readonly #settings: ForwardSettings;
  readonly #sockets = new Set<Socket>();
  #target: Target | undefined;
  #last = "";

  constructor(cluster: Cluster, settings: ForwardSettings) {
    this.#cluster = cluster;
    this.#settings = settings;
  }

  /** Throws if no pod is ready. */
  async choose(): Promise<Target> {
    if (this.#target) return this.#target;
    const { pod: only, port: name } = this.#settings;
    const pods = await labelled<V1Pod>(this.#cluster, "/api/v1", "pods");
    const [pod] = pods.filter((one) => isReady(one) && (only === undefined || one.metadata?.name === only));
    const port = pod?.spec?.containers.flatMap(({ ports = [] }) => ports).find((one) => one.name === name);
    if (!pod || !port)
      throw new CliError(
        `no pod with ${this.#cluster.selector} in ${this.#cluster.namespace} is ready`,
        EXIT.notFound,
        "fairway kube status shows the pods; choose -n, --pod or --selector",
      );
    const target = { pod: pod.metadata?.name ?? "", port: port.containerPort };
    if (this.#last !== target.pod) this.#settings.note(`through ${target.pod}`);
    this.#last = target.pod;
    return (this.#target = target);
  }

  async join(socket: Socket): Promise<void> {
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket)).on("error", () => socket.destroy());
    socket.pause();
    const until = performance.now() + READY_MS;
    while (!socket.destroyed) {
      try {
        return await this.#connect(socket, await this.choose());
      } catch (error) {
        this.#target = undefined;
        if (performance.now() > until) {
          this.#settings.note(error instanceof Error ? error.message : "the pod cannot be reached");
          socket.destroy();
        } else await pause(RETRY_MS);
      }
    }
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async #connect(socket: Socket, target: Target): Promise<void> {
    const { config, server, namespace } = this.#cluster;
    const options: RequestOptions = {};
    await config.applyToHTTPSOptions(options);
    const path = `/api/v1/namespaces/${namespace}/pods/${target.pod}/portforward?ports=${target.port}`;
    const tunnel = new WebSocket(server.replace(/^http/, "ws") + path, PROTOCOL, options);
    const isNumbered = new Set<number>();
    tunnel.on("message", (message: Buffer) => {
      const [channel = DATA] = message;
      const data = message.subarray(isNumbered.has(channel) ? 1 : 3);
      isNumbered.add(channel);
      if (data.length === 0) return;
      if (channel === ERRORS) return this.#break(tunnel, target, data.toString().trim());
      if (socket.write(data)) return;
      tunnel.pause();
      socket.once("drain", () => tunnel.resume());
    });
    await opened(tunnel, target);
    tunnel.once("close", () => socket.end());
    tunnel.on("error", () => this.#break(tunnel, target, "its connection broke"));
    socket.once("close", () => tunnel.close());
    socket.on("data", (chunk: Buffer) => {
      tunnel.send(Buffer.concat([Buffer.of(DATA), chunk]), () => socket.resume());
      if (tunnel.bufferedAmount > MAX_WAITING_BYTES) socket.pause();
    });
    socket.resume();
  }

  #break(tunnel: WebSocket, target: Target, reason: string): void {
    tunnel.terminate();
    this.#forget(target, reason);
  }

  #forget(target: Target, reason: string): void {
    if (this.#target !== target) return;
    this.#target = undefined;
    this.#settings.note(`${target.pod}: ${reason}; the next connection finds a pod that is ready`);
  }
}

async function opened(tunnel: WebSocket, { pod }: Target): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  tunnel.once("open", resolve);
  tunnel.once("error", ({ message }) => reject(new Error(`${pod} cannot be reached: ${message}`)));
  await promise;
}

function isReady({ metadata, status }: V1Pod): boolean {
  const isPassing = status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True");
  return isPassing === true && metadata?.deletionTimestamp === undefined;
}
