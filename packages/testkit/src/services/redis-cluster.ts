import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { Redis } from "ioredis";
import type { Certificates } from "./certificates.ts";
import { findProgram, freePort, type Service } from "./process.ts";
import { startRedis } from "./redis.ts";

export interface ClusterSettings {
  /** Adds a replica for each of these primaries, by index; none otherwise. */
  readonly replicaPrimaries?: readonly number[];
  /** Number of primaries without a slot, besides the three that share all slots. */
  readonly spare?: number;
  readonly tls?: Certificates;
  readonly user?: { readonly name: string; readonly password: string };
  readonly password?: string;
  /** The host name by which nodes name each other. */
  readonly hostname?: string;
  readonly isDurable?: boolean;
}

/** A Redis Cluster of three primaries on the loopback address. */
export interface RedisCluster {
  /** `redis+cluster://`, with the primaries that have slots at the start. */
  readonly url: string;
  /** The three primaries that have slots at the start, then spare ones. */
  readonly primaries: readonly Service[];
  readonly replicas: readonly Service[];
  /** Returns all nodes, for a client. */
  seeds(): { readonly host: string; readonly port: number }[];
  /** Returns which node serves which slots now. */
  ranges(): Promise<{ readonly owner: Service; readonly first: number; readonly last: number }[]>;
  readSlot(key: string): Promise<number>;
  /** Sends a command to one node. */
  ask(node: Service, command: string, ...args: readonly (string | number)[]): Promise<unknown>;
  /** Moves slots with their keys while the cluster is in use, like `redis-cli --cluster reshard`. */
  reshard(from: Service, to: Service, slots: number): Promise<void>;
  /** Moves the slot of a key with all its keys, step by step like a reshard. */
  move(key: string, to: Service): Promise<void>;
  /** Returns the node that serves a key now. */
  findOwner(key: string): Promise<Service>;
  /** Waits until all living nodes agree that all slots are served, and which node owns each. */
  agreed(): Promise<void>;
  stop(): Promise<void>;
}

const PRIMARIES = 3;
const SLOTS = 16_384;
const NODE_TIMEOUT_MS = 1_000;
const AGREED_MS = 90_000;
/** A small number, so that a script meets a slot that is half moved. */
const KEYS_AT_ONCE = 2;
const redisCli = promisify(execFile);

export async function startRedisCluster(settings: ClusterSettings = {}): Promise<RedisCluster> {
  const { replicaPrimaries = [], spare = 0 } = settings;
  const started: Service[] = [];
  const stop = async () => void (await Promise.all(started.map((service) => service.stop())));
  try {
    const nodes = await Promise.all(
      Array.from({ length: PRIMARIES + spare + replicaPrimaries.length }, async () => {
        const node = await startNode(settings);
        started.push(node.service);
        return node;
      }),
    );
    const cluster = createCluster(nodes, settings, stop);
    const primaries = nodes.slice(0, PRIMARIES + spare);
    await join(cluster, nodes);
    for (const [place, { service }] of primaries.slice(0, PRIMARIES).entries())
      await cluster.ask(service, "cluster", "addslotsrange", firstSlot(place), firstSlot(place + 1) - 1);
    await cluster.agreed();
    for (const [at, place] of replicaPrimaries.entries()) {
      const replica = nodes[PRIMARIES + spare + at] as Node;
      await cluster.ask(
        replica.service,
        "cluster",
        "replicate",
        await readNodeId(cluster, (primaries[place] as Node).service),
      );
    }
    await cluster.agreed();
    for (const replica of cluster.replicas) await followed(cluster, replica);
    return cluster;
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A line of `CLUSTER SLOTS`: first slot, last slot, owner. */
type SlotRange = readonly [first: number, last: number, owner: readonly [host: string, port: number]];

interface Node {
  readonly service: Service;
  readonly busPort: number;
}

async function startNode(settings: ClusterSettings): Promise<Node> {
  const { tls, user, password, hostname, isDurable = true } = settings;
  const busPort = await freePort();
  const service = await startRedis({
    isDurable,
    cluster: { busPort, nodeTimeoutMs: NODE_TIMEOUT_MS, ...(hostname !== undefined && { hostname }) },
    ...(tls && { tls }),
    ...(user && { user }),
    ...(password !== undefined && { password }),
  });
  return { service, busPort };
}

const firstSlot = (place: number) => Math.ceil((SLOTS / PRIMARIES) * place);

async function join(cluster: RedisCluster, nodes: readonly Node[]): Promise<void> {
  const [first, ...others] = nodes as [Node, ...Node[]];
  for (const [at, { service }] of nodes.entries()) await cluster.ask(service, "cluster", "set-config-epoch", at + 1);
  for (const { service, busPort } of others)
    await cluster.ask(first.service, "cluster", "meet", "127.0.0.1", service.port, busPort);
  await until(async () => {
    const known = await Promise.all(nodes.map(({ service }) => lines(cluster, service)));
    return known.every((list) => list.length === nodes.length && !list.some((line) => /handshake/.test(line)));
  }, "the nodes do not meet");
}

function createCluster(nodes: readonly Node[], settings: ClusterSettings, stop: () => Promise<void>): RedisCluster {
  const { spare = 0, tls, user, password, hostname } = settings;
  const services = nodes.map(({ service }) => service);
  const primaries = services.slice(0, PRIMARIES + spare);
  const login = user
    ? `${user.name}:${encodeURIComponent(user.password)}@`
    : password === undefined
      ? ""
      : `:${password}@`;
  const hosts = primaries.slice(0, PRIMARIES).map(({ port }) => `${hostname ?? "127.0.0.1"}:${port}`);
  const cluster: RedisCluster = {
    url: `${tls ? "rediss" : "redis"}+cluster://${login}${hosts.join(",")}`,
    primaries,
    replicas: services.slice(PRIMARIES + spare),
    seeds: () => services.map(({ port }) => ({ host: "127.0.0.1", port })),
    async ranges() {
      const [asked] = (await living(cluster, services)) as [Service];
      const ranges = (await cluster.ask(asked, "cluster", "slots")) as SlotRange[];
      return ranges.map(([first, last, [, port]]) => {
        const owner = services.find((service) => service.port === port);
        if (!owner) throw new Error(`slots ${first} to ${last} have no node`);
        return { owner, first, last };
      });
    },
    async readSlot(key) {
      const [asked] = (await living(cluster, services)) as [Service];
      return Number(await cluster.ask(asked, "cluster", "keyslot", key));
    },
    ask: (node, command, ...args) => withNode(node, tls, (redis) => redis.call(command, ...args)),
    async reshard(from, to, slots) {
      const [fromId, toId] = [await readNodeId(cluster, from), await readNodeId(cluster, to)];
      const account = password === undefined ? [] : ["-a", password, "--no-auth-warning"];
      const encryption = tls ? ["--tls", "--cacert", tls.ca] : [];
      const where = ["--cluster", "reshard", `127.0.0.1:${from.port}`];
      const move = ["--cluster-from", fromId, "--cluster-to", toId, "--cluster-slots", String(slots), "--cluster-yes"];
      const program = findProgram("redis-cli", "redis-tools");
      // After a fail-over the nodes need a moment to agree; nothing has moved until then.
      await until(
        () =>
          redisCli(program, [...account, ...encryption, ...where, ...move]).then(
            () => true,
            (error: unknown) => {
              if (String(error).includes("fix your cluster problems")) return false;
              throw error;
            },
          ),
        "the nodes do not agree, so no slot can move",
      );
    },
    move: (key, to) => moveSlot(cluster, key, to),
    async findOwner(key) {
      const slot = await cluster.readSlot(key);
      const range = (await cluster.ranges()).find(({ first, last }) => slot >= first && slot <= last);
      if (!range) throw new Error(`no node serves slot ${slot}`);
      return range.owner;
    },
    agreed: () =>
      until(async () => {
        const alive = await living(cluster, services);
        const states = await Promise.all(alive.map((node) => cluster.ask(node, "cluster", "info")));
        const owners = await Promise.all(alive.map((node) => readOwners(cluster, node)));
        return (
          states.every((state) => /cluster_state:ok/.test(String(state)) && /slots_ok:16384/.test(String(state))) &&
          new Set(owners).size === 1
        );
      }, "the nodes do not agree"),
    stop,
  };
  return cluster;
}

/** Returns one text for one view of the owners of all slots. */
async function readOwners(cluster: RedisCluster, node: Service): Promise<string> {
  const ranges = (await cluster.ask(node, "cluster", "slots")) as SlotRange[];
  return ranges
    .map(([first, last, [, port]]) => `${first}-${last}:${port}`)
    .toSorted()
    .join(" ");
}

async function moveSlot(cluster: RedisCluster, key: string, to: Service): Promise<void> {
  const slot = await cluster.readSlot(key);
  const from = await cluster.findOwner(key);
  if (from === to) return;
  const [fromId, toId] = [await readNodeId(cluster, from), await readNodeId(cluster, to)];
  await cluster.ask(to, "cluster", "setslot", slot, "importing", fromId);
  await cluster.ask(from, "cluster", "setslot", slot, "migrating", toId);
  for (;;) {
    const keys = (await cluster.ask(from, "cluster", "getkeysinslot", slot, KEYS_AT_ONCE)) as string[];
    if (keys.length === 0) break;
    await cluster.ask(from, "migrate", "127.0.0.1", to.port, "", 0, 5_000, "KEYS", ...keys);
  }
  for (const node of [to, from, ...cluster.primaries.filter((one) => one !== to && one !== from)])
    await cluster.ask(node, "cluster", "setslot", slot, "node", toId);
}

/** A test that leaves the cluster with a dead node does so on purpose. */
async function living(cluster: RedisCluster, services: readonly Service[]): Promise<Service[]> {
  const answers = await Promise.all(
    services.map((node) =>
      cluster.ask(node, "ping").then(
        () => [node],
        () => [],
      ),
    ),
  );
  return answers.flat();
}

async function lines(cluster: RedisCluster, node: Service): Promise<string[]> {
  return String(await cluster.ask(node, "cluster", "nodes"))
    .trim()
    .split("\n");
}

async function readNodeId(cluster: RedisCluster, node: Service): Promise<string> {
  return String(await cluster.ask(node, "cluster", "myid"));
}

async function followed(cluster: RedisCluster, replica: Service): Promise<void> {
  const isFollowing = async () =>
    /master_link_status:up/.test(String(await cluster.ask(replica, "info", "replication")));
  await until(isFollowing, "a replica does not follow");
}

async function withNode<T>(
  { url }: Service,
  tls: Certificates | undefined,
  work: (redis: Redis) => Promise<T>,
): Promise<T> {
  const redis = new Redis(url, {
    enableReadyCheck: false,
    disableClientInfo: true,
    retryStrategy: () => null,
    ...(tls && { tls: { ca: readFileSync(tls.ca) } }),
  });
  redis.on("error", () => {
    // The call itself is rejected.
  });
  try {
    return await work(redis);
  } finally {
    redis.disconnect();
  }
}

async function until(isTrue: () => Promise<boolean>, problem: string): Promise<void> {
  const end = performance.now() + AGREED_MS;
  while (!(await isTrue())) {
    if (performance.now() > end) throw new Error(problem);
    await pause(50);
  }
}
