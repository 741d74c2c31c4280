import { setTimeout as pause } from "node:timers/promises";
import type { ClusterAddress, HostPort } from "../../lib/net/redis-address.ts";
import type { Logger } from "../../observability/log.ts";
import { waitIn } from "../connection.ts";
import { ClusterError } from "./cluster-error.ts";
import type { NodeConnections } from "./node-connections.ts";
import { askTopology, formatNodeName, listNodes, slotRanges, type Topology, type View } from "./topology.ts";

export interface ClusterStateDeps {
  readonly address: ClusterAddress;
  /** Connections for commands, which decide whether the cluster is ready. */
  readonly nodes: NodeConnections;
  readonly ask: (node: HostPort) => Promise<View>;
  readonly log: Logger;
}

/** The owner of each slot, as far as this process knows, and whether all owners answer. */
export interface ClusterState {
  /** Undefined until a node has answered. */
  readonly topology: Topology | undefined;
  /** True if every slot has a primary with a usable connection. */
  readonly isReady: boolean;
  readonly lastError: Error | undefined;
  /** Returns the primary of a slot; undefined while no node has it. */
  findOwner(slot: number): HostPort | undefined;
  /** Call when a node reports that another node has this slot. */
  moved(slot: number, to: HostPort): void;
  /** Call when a node reports that the cluster is changing: the topology is read again soon. */
  doubt(): void;
  /** Call when a connection of `nodes` becomes usable or unusable. */
  changed(): void;
  ready(ms: number): Promise<boolean>;
  onReady(listener: () => void): () => void;
  close(): void;
}

const HEAL_MS = 200;
const DOUBT_MS = 100;

export function createClusterState(deps: ClusterStateDeps): ClusterState {
  return new AskedState(deps);
}

class AskedState implements ClusterState {
  readonly #deps: ClusterStateDeps;
  readonly #waiting = new Set<() => void>();
  readonly #listeners = new Set<() => void>();
  #topology: Topology | undefined;
  #failure: Error | undefined;
  #wasReady = false;
  #isHealing = false;
  #refreshing: Promise<void> | undefined;
  #doubting: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(deps: ClusterStateDeps) {
    this.#deps = deps;
  }

  get topology(): Topology | undefined {
    return this.#topology;
  }

  get isReady(): boolean {
    const { nodes } = this.#deps;
    return (
      this.#topology?.isComplete === true &&
      this.#topology.primaries.every((primary) => nodes.find(formatNodeName(primary))?.isUsable)
    );
  }

  get lastError(): Error | undefined {
    if (!this.#topology) return this.#failure;
    const { owners, primaries } = this.#topology;
    const missing = slotRanges((slot) => owners[slot] === -1);
    if (missing !== "")
      return new ClusterError(
        "incomplete",
        `slots ${missing} have no primary: start it, or give them to another one (redis-cli --cluster fix)`,
      );
    for (const [place, primary] of primaries.entries()) {
      const node = this.#deps.nodes.find(formatNodeName(primary));
      if (!node || node.isUsable) continue;
      const slots = slotRanges((slot) => owners[slot] === place);
      const reason = node.lastError?.message ?? "no connection";
      const text = `the primary of slots ${slots}, ${node.name}, does not answer (${reason})`;
      return new ClusterError("incomplete", `${text}: start it, or let a replica take its place`, node.lastError);
    }
    return undefined;
  }

  findOwner(slot: number): HostPort | undefined {
    return this.#topology?.primaries[this.#topology.owners[slot] ?? -1];
  }

  moved(slot: number, to: HostPort): void {
    this.doubt();
    if (!this.#topology) return;
    const { primaries, owners, isComplete } = this.#topology;
    const known = primaries.findIndex((primary) => formatNodeName(primary) === formatNodeName(to));
    if (known >= 0) {
      owners[slot] = known;
      return;
    }
    owners[slot] = primaries.length;
    this.#topology = { primaries: [...primaries, { ...to, replicas: [] }], owners, isComplete };
    this.#deps.nodes.to(to);
    this.changed();
  }

  doubt(): void {
    this.#doubting ??= setTimeout(() => {
      this.#doubting = undefined;
      void this.#refresh();
    }, DOUBT_MS).unref();
  }

  changed(): void {
    if (this.#isClosed) return;
    if (!this.isReady) {
      this.#wasReady = false;
      this.#heal();
    } else if (!this.#wasReady) {
      this.#wasReady = true;
      for (const wake of this.#waiting) wake();
      for (const listener of this.#listeners) listener();
    }
  }

  ready(ms: number): Promise<boolean> {
    if (this.isReady) return Promise.resolve(true);
    this.#heal();
    return waitIn(this.#waiting, ms);
  }

  onReady(listener: () => void): () => void {
    if (this.isReady) listener();
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#doubting);
  }

  /** Reads the topology until every slot has a primary that answers. Never rejects. */
  #heal(): void {
    const heal = async () => {
      while (!this.#isClosed && !this.isReady) {
        await this.#refresh();
        if (!this.isReady) await pause(HEAL_MS, undefined, { ref: false });
      }
    };
    if (this.#isHealing) return;
    this.#isHealing = true;
    void heal().finally(() => {
      this.#isHealing = false;
      this.changed();
    });
  }

  /** Never rejects. */
  #refresh(): Promise<void> {
    const refresh = async () => {
      const { address, ask } = this.#deps;
      try {
        const found = await askTopology(listNodes(address, this.#topology), ask);
        if (!this.#isClosed) this.#use(found);
      } catch (error) {
        this.#failure = error as Error;
      }
    };
    this.#refreshing ??= refresh().finally(() => (this.#refreshing = undefined));
    return this.#refreshing;
  }

  #use(found: Topology): void {
    const { nodes, log } = this.#deps;
    const before = listNodeNames(this.#topology);
    const now = listNodeNames(found);
    this.#topology = found;
    for (const primary of found.primaries) nodes.to(primary);
    nodes.keep(now);
    if (before.size > 0 && before.symmetricDifference(now).size > 0)
      log.warn("the Redis Cluster has other primaries", { before: [...before], now: [...now] });
    this.changed();
  }
}

function listNodeNames(topology: Topology | undefined): ReadonlySet<string> {
  return new Set((topology?.primaries ?? []).map(formatNodeName));
}
