import { setTimeout as pause } from "node:timers/promises";
import type { ClusterAddress, HostPort } from "../../lib/net/redis-address.ts";
import { ClusterError } from "./cluster-error.ts";
import { SLOTS } from "./slots.ts";

/** A primary with its known replicas. */
export interface Primary extends HostPort {
  readonly replicas: readonly HostPort[];
}

/** The primary of each slot. */
export interface Topology {
  readonly primaries: readonly Primary[];
  /** Index in `primaries` for each slot; -1 = no primary has it. */
  readonly owners: Int16Array;
  /** True if every slot has a primary. */
  readonly isComplete: boolean;
}

/** Answers of one node to `CLUSTER SLOTS` and `CLUSTER INFO`. */
export interface View {
  readonly slots: unknown;
  readonly info: string;
}

/** Longest wait for a node that hangs after another one has answered. */
const GRACE_MS = 200;

export const formatNodeName = ({ host, port }: HostPort) => `${host}:${port}`;

/**
 * Queries all nodes at once. The answer of the node with the latest configuration counts, because a disconnected node
 * still names a replaced primary. Throws ClusterError if none answers.
 */
export async function askTopology(
  nodes: readonly HostPort[],
  ask: (node: HostPort) => Promise<View>,
): Promise<Topology> {
  const views: { readonly from: HostPort; readonly view: View }[] = [];
  const failures = new Map<string, Error>();
  const first = Promise.withResolvers<void>();
  const all = Promise.all(
    nodes.map(async (from) => {
      try {
        views.push({ from, view: await ask(from) });
        first.resolve();
      } catch (error) {
        failures.set(formatNodeName(from), error as Error);
      }
    }),
  );
  await Promise.race([all, first.promise.then(() => pause(GRACE_MS, undefined, { ref: false }))]);
  const [best] = views.sort((a, b) => calculateRank(b.view) - calculateRank(a.view));
  if (best) return readTopology(best.view.slots, best.from);
  throw buildClusterError(failures);
}

function calculateRank({ info }: View): number {
  const epoch = Number(/^cluster_current_epoch:(\d+)/m.exec(info)?.[1] ?? 0);
  return epoch + (/^cluster_state:ok/m.test(info) ? 0.5 : 0);
}

function buildClusterError(failures: ReadonlyMap<string, Error>): ClusterError {
  const alone = [...failures].find(([, { message }]) => /cluster support disabled/i.test(message));
  if (alone)
    return new ClusterError("mistake", `${alone[0]} is not a node of a Redis Cluster: write redis:// or rediss://`);
  const reasons = [...failures].map(([node, { message }]) => `${node} ${message}`);
  const [[, cause] = []] = failures;
  return new ClusterError("unreachable", `no node of the Redis Cluster answers: ${reasons.join(", ")}`, cause);
}

/** Parses the answer to `CLUSTER SLOTS`; a node that does not know its own address is the one that was asked. */
export function readTopology(answer: unknown, asked: HostPort): Topology {
  const primaries: Primary[] = [];
  const places = new Map<string, number>();
  const owners = new Int16Array(SLOTS).fill(-1);
  for (const [from, to, ...nodes] of answer as readonly [number, number, ...(readonly unknown[])[]][]) {
    const [primary, ...replicas] = nodes.map((node) => readNode(node, asked));
    if (!primary) continue;
    let place = places.get(formatNodeName(primary));
    if (place === undefined) {
      place = primaries.push({ ...primary, replicas }) - 1;
      places.set(formatNodeName(primary), place);
    }
    owners.fill(place, from, to + 1);
  }
  return { primaries, owners, isComplete: !owners.includes(-1) };
}

function readNode([host, port]: readonly unknown[], asked: HostPort): HostPort {
  return { host: typeof host === "string" && host !== "" ? host : asked.host, port: Number(port) };
}

/** Returns the slots for which `isTrue` holds as `0-100, 200`; "" = none. */
export function slotRanges(isTrue: (slot: number) => boolean): string {
  const ranges: string[] = [];
  for (let slot = 0; slot < SLOTS; slot += 1) {
    if (!isTrue(slot)) continue;
    const from = slot;
    while (slot + 1 < SLOTS && isTrue(slot + 1)) slot += 1;
    ranges.push(from === slot ? String(from) : `${from}-${slot}`);
  }
  return ranges.join(", ");
}

/** Returns all nodes to query next: those of the URL and the known ones. */
export function listNodes({ hosts }: ClusterAddress, known: Topology | undefined): HostPort[] {
  const all = [...(known?.primaries ?? []).flatMap(({ replicas, ...primary }) => [primary, ...replicas]), ...hosts];
  return [...new Map(all.map(({ host, port }) => [formatNodeName({ host, port }), { host, port }])).values()];
}
