import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import type { Servers, Store } from "./servers.ts";
import type { World } from "./world.ts";

/** How long faults last, in milliseconds. */
export interface Pace {
  /** A server or a replica is unavailable. */
  readonly awayMs: number;
  /** A process freezes, or a connection is bad. */
  readonly badMs: number;
  /** The database freezes. */
  readonly stillMs: number;
}

export interface Fault {
  readonly name: string;
  /** The description of a step, for the report. */
  readonly about: (pace: Pace) => string;
  /** No request may fail because of this fault. */
  readonly isHarmless?: true;
  /** Possibly no request is answered while this fault lasts. */
  readonly isTotal?: true;
  /** Proves nothing if the replicas have no connection to Redis. */
  readonly isOfRedis?: true;
  /** Starts and ends the fault; returns a remark for the report. Throws if it could not be done. */
  run(world: World, pace: Pace): Promise<string>;
}

const REDIS_DELAY_MS = 2_000;
export const seconds = (ms: number) => `${ms / 1000} s`;

export const killReplica: Fault = {
  name: "a replica is killed",
  about: ({ awayMs }) => `SIGKILL of one of three; started again on its disk after ${seconds(awayMs)}`,
  async run({ replicas }, { awayMs }) {
    await replicas.crash(0);
    await sleep(awayMs);
    await replicas.replace(0);
    return "";
  },
};

const freezeReplica: Fault = {
  name: "a replica freezes",
  about: ({ badMs }) => `SIGSTOP of one of three for ${seconds(badMs)}`,
  async run({ replicas }, { badMs }) {
    replicas.freeze(1);
    try {
      await sleep(badMs);
    } finally {
      replicas.resume(1);
    }
    return "";
  },
};

function requireServer({ store }: Servers): Store & { readonly kind: "server" } {
  if (store.kind !== "server") throw new Error("this fault needs a Redis of one server");
  return store;
}

const killRedis: Fault = {
  name: "Redis is killed",
  about: ({ awayMs }) => `SIGKILL; the same data after ${seconds(awayMs)}`,
  isTotal: true,
  isOfRedis: true,
  async run({ servers }, { awayMs }) {
    const { redis } = requireServer(servers);
    await redis.kill();
    await sleep(awayMs);
    await redis.restart();
    return "";
  },
};

const wipeRedis: Fault = {
  name: "Redis loses everything",
  about: () => "FLUSHALL under load",
  isOfRedis: true,
  async run({ servers }, { badMs }) {
    const redis = new Redis(requireServer(servers).redis.url);
    try {
      const before = await redis.dbsize();
      await redis.flushall();
      await sleep(badMs);
      return `${before} keys were lost`;
    } finally {
      redis.disconnect();
    }
  },
};

const slowRedis: Fault = {
  name: "Redis is slow",
  about: ({ badMs }) => `each write to Redis waits ${seconds(REDIS_DELAY_MS)}, for ${seconds(badMs)}`,
  isTotal: true,
  isOfRedis: true,
  async run({ servers }, { badMs }) {
    const { proxy } = requireServer(servers);
    proxy.delay(REDIS_DELAY_MS);
    try {
      await sleep(badMs);
    } finally {
      proxy.delay(0);
    }
    return "";
  },
};

const flakyRedis: Fault = {
  name: "connections to Redis break",
  about: ({ badMs }) => `one of fifteen answers is dropped with its connection, for ${seconds(badMs)}`,
  isOfRedis: true,
  async run({ servers }, { badMs }) {
    const { proxy } = requireServer(servers);
    const before = proxy.dropped;
    proxy.drop(true);
    try {
      await sleep(badMs);
    } finally {
      proxy.drop(false);
    }
    return `${proxy.dropped - before} connections broken`;
  },
};

const freezeDatabase: Fault = {
  name: "the database freezes",
  about: ({ stillMs }) => `SIGSTOP of all its processes for ${seconds(stillMs)}`,
  isTotal: true,
  async run({ servers }, { stillMs }) {
    try {
      servers.freezeDatabase();
      await sleep(stillMs);
    } finally {
      servers.resumeDatabase();
    }
    return "";
  },
};

const killDatabase: Fault = {
  name: "the database is killed",
  about: ({ awayMs }) => `without a chance to tidy up; the same data after ${seconds(awayMs)}`,
  isTotal: true,
  async run({ servers }, { awayMs }) {
    await servers.crashDatabase(awayMs);
    return "";
  },
};

const failChannel: Fault = {
  name: "a channel fails",
  about: ({ badMs }) => `the first of two channels answers 503 for ${seconds(badMs)}, then it is switched off and on`,
  isHarmless: true,
  async run({ primary, secondary, channels, console }, { badMs }) {
    const before = secondary.requests.length;
    primary.script("/chat/completions", () => ({ status: 503, body: { error: { message: "overloaded" } } }));
    await sleep(badMs);
    const served = secondary.requests.length - before;
    const session = await console();
    await session.must("PUT", "/api/channel/", { id: channels.primary, status: 2 });
    primary.reset();
    await sleep(1_000);
    await session.must("PUT", "/api/channel/", { id: channels.primary, status: 1 });
    return `${served} calls at the second channel`;
  },
};

const rollReplicas: Fault = {
  name: "rolling restart",
  about: () => "each replica in turn: out of rotation, SIGTERM, its streams end, a new process takes its place",
  isHarmless: true,
  async run({ replicas }) {
    for (let index = 0; index < replicas.count; index++) await replicas.roll(index);
    return "every process ended with 0";
  },
};

const jumpClock: Fault = {
  name: "a clock jumps",
  about: ({ badMs }) =>
    `the wall clock of one of three goes a minute ahead, then a minute back, within ${seconds(badMs)}`,
  isHarmless: true,
  async run({ replicas }, { badMs }) {
    for (let step = 0; step < 3; step++) {
      replicas.jump(2);
      await sleep(badMs / 3);
    }
    return "";
  },
};

const killAllAndWipe: Fault = {
  name: "all replicas are killed while Redis is emptied",
  about: ({ awayMs }) => `SIGKILL of all three and FLUSHALL; started again on their disks after ${seconds(awayMs)}`,
  isTotal: true,
  async run({ replicas, servers }, { awayMs }) {
    const indexes = Array.from({ length: replicas.count }, (_, index) => index);
    await Promise.all(indexes.map((index) => replicas.crash(index)));
    const redis = new Redis(requireServer(servers).redis.url);
    const before = await redis.dbsize();
    await redis.flushall();
    redis.disconnect();
    await sleep(awayMs);
    await Promise.all(indexes.map((index) => replicas.replace(index)));
    return `${before} keys were lost`;
  },
};

/** Combines two faults that begin at the same time. */
export function atOnce(name: string, first: Fault, second: Fault): Fault {
  return {
    name,
    about: (pace) => `${first.about(pace)}; ${second.about(pace)}`,
    isTotal: true,
    isOfRedis: true,
    async run(world, pace) {
      const done = await Promise.allSettled([first.run(world, pace), second.run(world, pace)]);
      const failed = done.find(({ status }) => status === "rejected");
      if (failed) throw (failed as PromiseRejectedResult).reason;
      return done.flatMap((result) => (result.status === "fulfilled" && result.value ? [result.value] : [])).join("; ");
    },
  };
}

/** A killed replica comes first, because its leases end while the other faults run. */
export const FAULTS: readonly Fault[] = [
  killReplica,
  freezeReplica,
  killRedis,
  wipeRedis,
  slowRedis,
  flakyRedis,
  freezeDatabase,
  killDatabase,
  failChannel,
  jumpClock,
  rollReplicas,
];

/** Faults in two parts of an installation at once. */
export const PAIRS: readonly Fault[] = [
  atOnce("a replica and Redis are killed", killReplica, killRedis),
  atOnce("Redis is emptied while the database freezes", wipeRedis, freezeDatabase),
  killAllAndWipe,
];

/** Faults for the second database: those that affect the database or money in a way of its own. */
export const SHORT_FAULTS: readonly Fault[] = [
  killReplica,
  wipeRedis,
  freezeDatabase,
  killDatabase,
  rollReplicas,
  ...PAIRS,
];
