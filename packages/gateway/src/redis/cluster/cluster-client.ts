import { createConnection, type Socket } from "node:net";
import { connect as createTlsConnection } from "node:tls";
import { Redis, type RedisOptions } from "ioredis";
import type { ClusterAddress, HostPort } from "../../lib/net/redis-address.ts";
import type { ClusterReads, Connection, RedisClient, RedisServer, RedisSettings } from "../types.ts";
import { baseOptions, DEAD_AFTER_MS, watch } from "../connection.ts";
import { connectorTo, type SocketSource } from "../connector.ts";
import { RedisUnavailable } from "../redis-unavailable.ts";
import { within } from "../turn-pipeline.ts";
import { createWaitBudget, type WaitBudget } from "../wait-budget.ts";
import { createClusterCalls } from "./cluster-calls.ts";
import { createClusterState, type ClusterState } from "./cluster-state.ts";
import { createNodeConnections, type NodeConnections } from "./node-connections.ts";
import { calculateSlot } from "./slots.ts";
import { formatNodeName, type View } from "./topology.ts";

const ANSWER_MS = 2_000;

/** Creates a client with one connection for commands to each primary; otherwise it is like the client of one server. */
export function createClusterClient(address: ClusterAddress, settings: RedisSettings): RedisClient {
  const { keys, log } = settings;
  const others: { close(): void }[] = [];
  let hasBeenReady = false;
  const connect = (purpose: string) => (at: HostPort) => {
    const options = { ...nodeOptions(address, at, `${settings.name}-${purpose}`), enableOfflineQueue: false };
    const redis = new Redis({ ...options, socketTimeout: DEAD_AFTER_MS });
    watch(redis, `${purpose} ${formatNodeName(at)}`, { log, isKnown: hasBeenReady });
    return redis;
  };
  const nodes = createNodeConnections(connect("commands"), () => state.changed());
  const state: ClusterState = createClusterState({ address, nodes, log, ask: (at) => askNode(at, nodes, address) });
  state.onReady(() => (hasBeenReady = true));
  const calls = createClusterCalls(state, nodes);
  const source = anyNode(address, state);
  const sendEach: RedisClient["sendEach"] = (some, timeoutMs) => calls.sendEach(some, timeoutMs);

  return {
    keys,
    getWaitBudget: createWaitBudgets(state, settings.waitMs),
    get isReady() {
      return state.isReady;
    },
    get lastError() {
      return state.lastError;
    },
    servers: () => listServers(state, nodes),
    cluster: {
      openReads(purpose) {
        const own = createNodeConnections(connect(purpose), () => undefined);
        others.push(own);
        return createClusterReads(state, own);
      },
    },
    sendEach,
    async send(some, timeoutMs) {
      const answers = await sendEach(some, timeoutMs);
      const away = answers.find((answer) => answer instanceof RedisUnavailable);
      if (away) throw away;
      return answers;
    },
    sendOne: (call, timeoutMs) => calls.sendOne(call, timeoutMs),
    onReady: (listener) => state.onReady(listener),
    ready: (ms) => state.ready(ms),
    open(purpose, deadAfterMs) {
      const options = { ...baseOptions(`${settings.name}-${purpose}`), ...buildLoginOptions(address) };
      const socketTimeout = deadAfterMs === undefined ? {} : { socketTimeout: deadAfterMs };
      const redis: Connection = new Redis({ ...options, ...socketTimeout, Connector: connectorTo(source) });
      watch(redis, purpose, { log, isKnown: true });
      others.push({ close: () => redis.disconnect() });
      return redis;
    },
    close() {
      state.close();
      nodes.close();
      for (const other of others) other.close();
      return Promise.resolve();
    },
  };
}

/** Creates a wait budget for each primary, so that an unavailable one does not shorten the waits for the others. */
function createWaitBudgets(state: ClusterState, waitMs: number | undefined): RedisClient["getWaitBudget"] {
  const budgets = new Map<string, WaitBudget>();
  return (key) => {
    const owner = state.findOwner(calculateSlot(key));
    const name = owner ? formatNodeName(owner) : "";
    const budget = budgets.get(name) ?? createWaitBudget(waitMs);
    budgets.set(name, budget);
    return budget;
  };
}

function createClusterReads(state: ClusterState, nodes: NodeConnections): ClusterReads {
  const calls = createClusterCalls(state, nodes);
  return {
    sendEach(some, timeoutMs) {
      nodes.keep(new Set(state.topology?.primaries.map(formatNodeName)));
      return calls.sendEach(some, timeoutMs);
    },
    close: () => nodes.close(),
  };
}

function buildLoginOptions({ redis, isTls }: ClusterAddress): RedisOptions {
  return { ...redis, ...(isTls && { tls: {} }) };
}

function nodeOptions(address: ClusterAddress, { host, port }: HostPort, name: string): RedisOptions {
  return { ...baseOptions(name), ...buildLoginOptions(address), host, port };
}

function listServers({ topology }: ClusterState, nodes: NodeConnections): RedisServer[] {
  const { primaries, owners } = topology ?? { primaries: [], owners: new Int16Array() };
  const owning = primaries.filter((_, place) => owners.includes(place));
  return owning.map((primary) => {
    const { name, sendOne } = nodes.to(primary);
    return { name, sendOne };
  });
}

async function askNode(at: HostPort, nodes: NodeConnections, address: ClusterAddress): Promise<View> {
  const known = nodes.find(formatNodeName(at));
  if (known?.isUsable) return askView(known.redis);
  const options = { ...nodeOptions(address, at, "fairway-topology"), connectTimeout: ANSWER_MS };
  const redis = new Redis({ ...options, retryStrategy: () => null, enableReadyCheck: false, disableClientInfo: true });
  let failure: Error | undefined;
  redis.on("error", (error: Error) => (failure = error));
  try {
    await redis.connect();
    return await askView(redis);
  } catch (error) {
    throw failure ?? error;
  } finally {
    redis.disconnect();
  }
}

async function askView(redis: Redis): Promise<View> {
  const [slots, info] = await within(
    ANSWER_MS,
    Promise.all([redis.call("cluster", "slots"), redis.call("cluster", "info")]),
  );
  return { slots, info: String(info) };
}

/** Connects to any node, for subscriptions: a message reaches every node. The next connection uses another node. */
function anyNode({ hosts, isTls }: ClusterAddress, state: ClusterState): SocketSource {
  let turn = 0;
  return {
    connect() {
      const { primaries = [] } = state.topology ?? {};
      const all: readonly HostPort[] = primaries.length > 0 ? primaries : hosts;
      const { host, port } = all[turn % all.length] as HostPort;
      turn += 1;
      const socket: Socket = isTls ? createTlsConnection({ host, port }) : createConnection({ host, port });
      return Promise.resolve({ socket });
    },
    findRoleRefusal: () => undefined,
  };
}
