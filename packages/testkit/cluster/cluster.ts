// A throw-away Kubernetes for tests: the real control plane by itself, with simulated nodes, or with real ones.
import { readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGuard } from "../src/services/guard.ts";
import { freePort } from "../src/services/process.ts";
import { Authority } from "./authority.ts";
import { whyNoNodes } from "./obstacles.ts";
import { createClients, type Clients } from "./clients.ts";
import { API_SERVER, startControlPlane } from "./control-plane.ts";
import { addFakeNodes } from "./fake-nodes.ts";
import { joinGroup, removeGroups } from "./groups.ts";
import {
  blockApiServer,
  CONTROL_PLANE,
  createNetwork,
  importImage,
  killTask,
  startNode,
  startProxy,
  tagImage,
} from "./nodes.ts";
import { ProcessHost } from "./process-host.ts";
import { buildPrograms } from "./programs.ts";

export interface Cluster extends Clients {
  readonly kubeconfig: string;
  /** The folder for logs and files of the cluster; undefined for a cluster that already existed. */
  readonly folder: string | undefined;
  /** Lets nothing reach the API server: connections break, and new ones are refused until `isAway` is false. */
  setApiServerAway(isAway: boolean): Promise<void>;
  stop(): Promise<void>;
}

export interface NodeCluster extends Cluster {
  /** Imports an image archive on every node. */
  load(archive: string): Promise<void>;
  /** Gives an image of every node another name, as if it came from a registry. */
  tag(image: string, name: string): Promise<void>;
  /** Lets pods reach this machine's 127.0.0.1:port at the returned address. */
  expose(port: number): Promise<string>;
  /** Ends the first container of a pod with SIGKILL, like a kernel without memory. */
  killContainer(namespace: string, pod: string): Promise<void>;
  /**
   * Returns a local port that leads to a Service or pod, such as `10.96.0.7:80`; it follows a Service across its pods.
   */
  forward(address: string): Promise<number>;
}

const RELAY = join(import.meta.dirname, "relay.ts");

/** Starts the control plane, with simulated nodes on which pods become ready at once. `KUBECONFIG` takes precedence. */
export async function startCluster({ fakeNodes = 0 }: { readonly fakeNodes?: number } = {}): Promise<Cluster> {
  const given = process.env["KUBECONFIG"];
  if (given) {
    const clients = createClients(await buildPrograms("clients"), given);
    const setApiServerAway = () => Promise.reject(new Error("the API server of KUBECONFIG is not ours to end"));
    return { kubeconfig: given, folder: undefined, ...clients, setApiServerAway, stop: async () => {} };
  }
  const programs = await buildPrograms("control-plane");
  return inFolder(async (folder) => {
    const host = new ProcessHost(join(folder, "log"));
    const authority = new Authority(folder, []);
    const [port, client, peer] = await threePorts();
    const stop = () => host.close();
    try {
      const kubeconfig = await startControlPlane({
        host,
        programs,
        authority,
        port,
        advertised: undefined,
        etcdPorts: [client, peer],
      });
      const clients = createClients(programs, kubeconfig);
      if (fakeNodes > 0) await addFakeNodes({ host, programs, kubeconfig, clients, count: fakeNodes });
      const setApiServerAway = async (isAway: boolean) => {
        if (isAway) return host.end(API_SERVER);
        host.startAgain(API_SERVER);
        await host.until(120, API_SERVER, async () => (await clients.kubectl("get", "--raw", "/readyz")) === "ok");
      };
      return { kubeconfig, folder, ...clients, setApiServerAway, stop };
    } catch (error) {
      await stop();
      throw error;
    }
  });
}

/** Starts real nodes with containerd and kubelet, in namespaces of their own. Needs root. */
export async function startNodeCluster(count: number): Promise<NodeCluster> {
  const obstacle = whyNoNodes();
  if (obstacle) throw new Error(obstacle);
  const programs = await buildPrograms("nodes");
  return inFolder(async (folder) => {
    const machine = new ProcessHost(join(folder, "log", "machine"));
    const authority = new Authority(
      folder,
      Array.from({ length: count }, (_, index) => `n${index + 1}`),
    );
    const stop = async () => {
      await machine.close();
      await removeGroups(folder);
    };
    try {
      joinGroup(folder);
      return { ...(await startInside(machine, { programs, authority, count })), folder, stop };
    } catch (error) {
      await stop();
      throw error;
    }
  });
}

interface Inside {
  readonly programs: string;
  readonly authority: Authority;
  readonly count: number;
}

async function startInside(machine: ProcessHost, inside: Inside): Promise<Omit<NodeCluster, "folder" | "stop">> {
  const { programs, authority, count } = inside;
  const cluster = await machine.isolate(authority.file("log"));
  await createNetwork(cluster);
  const admin = await startControlPlane({
    host: cluster,
    programs,
    authority,
    port: 6_443,
    advertised: CONTROL_PLANE,
    etcdPorts: [2_379, 2_380],
  });
  const corefile = authority.file("Corefile");
  writeFileSync(corefile, `.:53 {\n  errors\n  kubernetes cluster.local {\n    kubeconfig ${admin}\n  }\n}\n`);
  cluster.start("coredns", join(programs, "coredns"), ["-conf", corefile]);
  startProxy(cluster, { programs, kubeconfig: admin, node: "n1", address: CONTROL_PLANE, folder: authority.folder });

  const relays = new Relays(machine, cluster, authority.folder);
  const port = await relays.inward("127.0.0.1:6443");
  const kubeconfig = authority.kubeconfig("kubeconfig", "admin", `127.0.0.1:${port}`);
  const clients = createClients(programs, kubeconfig);
  const indexes = Array.from({ length: count }, (_, index) => index + 1);
  const nodes = await Promise.all(indexes.map((index) => startNode({ cluster, programs, authority, count }, index)));
  for (const { name, host } of nodes) {
    await host.until(90, "kubelet", async () => (await clients.kubectl("get", "node", name)) !== "");
    await clients.kubectl("label", "node", name, `topology.kubernetes.io/zone=zone-${name}`);
  }
  await clients.kubectl("wait", "--for=condition=Ready", "node", "--all", "--timeout=90s");
  return {
    kubeconfig,
    ...clients,
    load: async (archive) => void (await Promise.all(nodes.map((node) => importImage(node, archive)))),
    tag: async (image, name) => void (await Promise.all(nodes.map((node) => tagImage(node, image, name)))),
    setApiServerAway: (isAway) => blockApiServer(cluster, isAway),
    killContainer: async (namespace, pod) => {
      const found = "{.spec.nodeName} {.status.containerStatuses[0].containerID}";
      const [name, id] = (await clients.kubectl("get", "pod", pod, "-n", namespace, "-o", `jsonpath=${found}`)).split(
        " ",
      );
      const node = nodes.find((candidate) => candidate.name === name);
      if (!node || !id) throw new Error(`the pod ${pod} runs nowhere`);
      await killTask(node, id.replace("containerd://", ""));
    },
    expose: (exposed) => relays.outward(exposed),
    forward: (address) => relays.inward(address),
  };
}

/** Pairs of relays that are connected by a socket file, one on each side of the namespaces. */
class Relays {
  readonly #machine: ProcessHost;
  readonly #cluster: ProcessHost;
  readonly #folder: string;
  #serial = 0;

  constructor(machine: ProcessHost, cluster: ProcessHost, folder: string) {
    this.#machine = machine;
    this.#cluster = cluster;
    this.#folder = folder;
  }

  async inward(address: string): Promise<number> {
    const socket = this.#nextSocket();
    await this.#relay(this.#cluster, socket, address);
    return Number(await this.#relay(this.#machine, "127.0.0.1:0", socket));
  }

  async outward(port: number): Promise<string> {
    const socket = this.#nextSocket();
    await this.#relay(this.#machine, socket, `127.0.0.1:${port}`);
    await this.#relay(this.#cluster, `${CONTROL_PLANE}:${port}`, socket);
    return `${CONTROL_PLANE}:${port}`;
  }

  #nextSocket(): string {
    return join(this.#folder, `relay-${++this.#serial}.sock`);
  }

  /** Returns the address where the relay listens, which it prints. */
  async #relay(host: ProcessHost, from: string, to: string): Promise<string> {
    const name = `relay-${this.#serial}`;
    host.start(name, process.execPath, [RELAY, from, to]);
    let found: string | undefined;
    await host.until(20, name, () => {
      found = /^ready (.+)$/m.exec(readFileSync(host.buildLogPath(name), "utf8"))?.[1];
      return found !== undefined;
    });
    return found ?? "";
  }
}

/** Creates a folder that is removed on stop, and also if this process dies. */
async function inFolder<C extends Cluster>(start: (folder: string) => Promise<C>): Promise<C> {
  const folder = await mkdtemp(join(tmpdir(), "fairway-cluster-"));
  const guard = createGuard(folder);
  const cluster = await start(folder);
  return {
    ...cluster,
    stop: async () => {
      await cluster.stop();
      guard.disarm();
      await rm(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

async function threePorts(): Promise<[number, number, number]> {
  return [await freePort(), await freePort(), await freePort()];
}
