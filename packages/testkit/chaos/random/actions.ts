import { setTimeout as sleep } from "node:timers/promises";
import type { Proxy } from "../../src/proxy.ts";
import type { Setting } from "./schedule.ts";
import type { ChaosWorld, Links } from "./world.ts";

/** A fault that begins and ends. */
export interface Action {
  readonly name: string;
  readonly isOfReplica: boolean;
  /** What it breaks; faults of one part do not overlap. */
  readonly parts: (replica: number) => readonly string[];
  readonly fits: (setting: Setting) => boolean;
  /** Begins it; the returned function repairs what it broke. */
  begin(world: ChaosWorld, replica: number): Promise<() => Promise<void>>;
}

const nothing = async () => undefined;
const RESTART_LIMIT_MS = 120_000;
const isServer = ({ engine }: Setting) => engine !== "SQLite";
const hasRedis = (setting: Setting) => setting.hasRedis;
const always = () => true;

/** Starts a process on the disk of the last one; what it needs may still be broken. */
async function startAgain({ scene: { replicas } }: ChaosWorld, replica: number): Promise<void> {
  const limit = performance.now() + RESTART_LIMIT_MS;
  for (;;) {
    try {
      return await replicas.replace(replica);
    } catch (error) {
      if (performance.now() > limit) throw error;
      await sleep(500);
    }
  }
}

function ofReplica(name: string, begin: Action["begin"], parts: readonly string[] = ["process"]): Action {
  const own = (replica: number) => parts.map((part) => `${part} ${replica}`);
  return { name, isOfReplica: true, parts: own, fits: always, begin };
}

const PROCESSES: readonly Action[] = [
  ofReplica("a replica is killed", async (world, replica) => {
    await world.scene.replicas.crash(replica);
    return () => startAgain(world, replica);
  }),
  ofReplica("a replica is stopped in order", async (world, replica) => {
    const ended = world.scene.replicas.end(replica);
    return async () => {
      await ended;
      await startAgain(world, replica);
    };
  }),
  ofReplica("a replica freezes", async ({ scene: { replicas } }, replica) => {
    replicas.freeze(replica);
    return async () => replicas.resume(replica);
  }),
  ofReplica("a clock jumps", async ({ scene: { replicas } }, replica) => {
    // Ahead, back, and to the right time.
    replicas.jump(replica);
    return async () => {
      replicas.jump(replica);
      await sleep(200);
      replicas.jump(replica);
    };
  }),
  ofReplica(
    "a disk is full",
    async ({ disks }, replica) => {
      await disks[replica]?.fill();
      return async () => disks[replica]?.free();
    },
    ["process"],
  ),
];

type Target = keyof Links;

const CONDITIONS: readonly { readonly how: string; readonly set: (proxy: Proxy, isOn: boolean) => void }[] = [
  {
    how: "refuses connections",
    set: (proxy, isOn) => {
      proxy.isClosed = isOn;
      if (isOn) proxy.cut();
    },
  },
  { how: "stalls", set: (proxy, isOn) => (proxy.isStalled = isOn) },
  { how: "is slow", set: (proxy, isOn) => (proxy.delayMs = isOn ? 300 : 0) },
  {
    how: "loses all bytes",
    set: (proxy, isOn) => {
      proxy.isSilent = isOn;
      if (!isOn) proxy.cut();
    },
  },
];

function listLinkFaults(target: Target, fits: Action["fits"]): Action[] {
  return CONDITIONS.map(({ how, set }) => ({
    name: `the way of a replica to ${target === "redis" ? "Redis" : "the database"} ${how}`,
    isOfReplica: true,
    parts: (replica) => [`${target} link ${replica}`],
    fits,
    async begin({ links }, replica) {
      const proxy = links[replica]?.[target];
      if (!proxy) return nothing;
      set(proxy, true);
      return async () => set(proxy, false);
    },
  }));
}

interface Server {
  freeze(): void;
  resume(): void;
  crash(): Promise<void>;
  restart(): Promise<void>;
}

/** @param part its name in sentences */
function listServerFaults(part: string, fits: Action["fits"], find: (world: ChaosWorld) => Server): Action[] {
  const own = { isOfReplica: false, parts: () => [part], fits };
  return [
    {
      ...own,
      name: `${part} is killed`,
      async begin(world) {
        await find(world).crash();
        return () => find(world).restart();
      },
    },
    {
      ...own,
      name: `${part} freezes`,
      async begin(world) {
        find(world).freeze();
        return async () => find(world).resume();
      },
    },
  ];
}

function requireStore({ store }: ChaosWorld) {
  if (!store) throw new Error("this fault needs Redis");
  return store;
}

const FAILOVERS: readonly Action[] = [
  {
    name: "the database fails over",
    isOfReplica: false,
    parts: () => ["the database"],
    fits: ({ engine }) => engine === "PostgreSQL" || engine === "Galera",
    async begin(world) {
      await world.database.failOver();
      world.redirect();
      return nothing;
    },
  },
  {
    name: "Redis fails over",
    isOfReplica: false,
    parts: () => ["Redis"],
    fits: hasRedis,
    async begin(world) {
      await requireStore(world).failOver();
      world.redirect();
      return nothing;
    },
  },
  {
    name: "Redis is emptied",
    isOfReplica: false,
    parts: () => ["Redis"],
    fits: hasRedis,
    async begin(world) {
      await requireStore(world).wipe();
      return nothing;
    },
  },
];

export const ACTIONS: readonly Action[] = [
  ...PROCESSES,
  ...listLinkFaults("database", isServer),
  ...listLinkFaults("redis", hasRedis),
  ...listServerFaults("the database", isServer, ({ database }) => database),
  ...listServerFaults("Redis", hasRedis, requireStore),
  ...FAILOVERS,
];

export function findAction(name: string): Action {
  const action = ACTIONS.find((one) => one.name === name);
  if (!action) throw new Error(`no action is called "${name}"`);
  return action;
}
