import { setTimeout as sleep } from "node:timers/promises";
import type { RedisCluster } from "../src/services/redis-cluster.ts";
import type { Service } from "../src/services.ts";
import { atOnce, killReplica, seconds, type Fault } from "./faults.ts";
import type { World } from "./world.ts";

const SHARDS = 64;

function requireCluster({ servers: { store } }: World): RedisCluster {
  if (store.kind !== "cluster") throw new Error("this fault needs a Redis Cluster");
  return store.cluster;
}

interface Range {
  readonly owner: Service;
  readonly first: number;
  readonly last: number;
}

/**
 * Returns the slots from the start of a range up to the first one that has keys of a user, for the range with the
 * fewest such slots.
 */
async function slotsToMove(world: World): Promise<{ readonly from: Range; readonly slots: number }> {
  const cluster = requireCluster(world);
  const ranges = await cluster.ranges();
  const tags = world.userIds.map((id) => `{s${String(id % SHARDS).padStart(2, "0")}}`);
  const moves = await Promise.all(
    tags.map(async (tag) => {
      const slot = await cluster.readSlot(tag);
      const from = ranges.find(({ first, last }) => first <= slot && slot <= last) as Range;
      return { from, slots: slot - from.first + 1 };
    }),
  );
  return moves.sort((a, b) => a.slots - b.slots)[0] as (typeof moves)[number];
}

const moveSlots: Fault = {
  name: "slots move",
  about: () => "slots with balances go to another primary and back, by `redis-cli --cluster reshard`",
  isOfRedis: true,
  async run(world) {
    const cluster = requireCluster(world);
    const { from, slots } = await slotsToMove(world);
    const others = (await cluster.ranges()).filter(({ owner }) => owner !== from.owner);
    const to = (others[0] as Range).owner;
    await cluster.reshard(from.owner, to, slots);
    await cluster.reshard(to, from.owner, slots);
    // A replica that has not heard of the last move would take over its primary without that slot.
    await cluster.agreed();
    return `${slots} slots`;
  },
};

const replacePrimary: Fault = {
  name: "a primary is killed and replaced",
  about: ({ badMs }) =>
    `SIGKILL of one of three; its replica takes over, and it returns as a replica after ${seconds(badMs)}`,
  isOfRedis: true,
  async run(world, { badMs }) {
    const cluster = requireCluster(world);
    const pair = [...cluster.primaries.slice(0, 1), ...cluster.replicas];
    const primary = (await cluster.ranges()).map(({ owner }) => owner).find((owner) => pair.includes(owner)) as Service;
    await primary.kill();
    await sleep(badMs);
    await cluster.agreed();
    await primary.restart();
    return "";
  },
};

const losePrimary: Fault = {
  name: "a primary without a replica is killed",
  about: ({ awayMs }) => `SIGKILL of one of three; the same data after ${seconds(awayMs)}`,
  isOfRedis: true,
  async run(world, { awayMs }) {
    const cluster = requireCluster(world);
    const [, , primary] = cluster.primaries as [Service, Service, Service];
    await primary.kill();
    await sleep(awayMs);
    await primary.restart();
    return "";
  },
};

const emptyPrimary: Fault = {
  name: "a primary loses everything",
  about: () => "FLUSHALL of one of three under load",
  isOfRedis: true,
  async run(world, { badMs }) {
    const cluster = requireCluster(world);
    const [, primary] = cluster.primaries as [Service, Service];
    const before = Number(await cluster.ask(primary, "dbsize"));
    await cluster.ask(primary, "flushall");
    await sleep(badMs);
    return `${before} keys were lost`;
  },
};

export const CLUSTER_FAULTS: readonly Fault[] = [
  killReplica,
  moveSlots,
  losePrimary,
  replacePrimary,
  emptyPrimary,
  atOnce("a replica is killed while slots move", killReplica, moveSlots),
];
