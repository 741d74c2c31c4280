import { startProxy, type Proxy } from "../../src/proxy.ts";
import { openScene, type Scene } from "../world.ts";
import { startDatabase, type ChaosDatabase } from "./databases.ts";
import { createDisk, type Disk } from "./disks.ts";
import { startStore, type ChaosStore } from "./store.ts";
import type { Engine } from "./schedule.ts";

/** The connections of one replica. */
export interface Links {
  /** Undefined for SQLite. */
  readonly database: Proxy | undefined;
  /** Undefined without Redis. */
  readonly redis: Proxy | undefined;
}

/** Replicas behind proxies of their own, and their servers. */
export interface ChaosWorld {
  readonly database: ChaosDatabase;
  readonly store: ChaosStore | undefined;
  readonly links: readonly Links[];
  readonly disks: readonly Disk[];
  readonly scene: Scene;
  /** Leads all replicas to the servers that take writes now. */
  redirect(): void;
  stop(): Promise<void>;
}

export interface ChaosSettings {
  readonly engine: Engine;
  readonly hasRedis: boolean;
  readonly onOutage: "deny" | "sql";
  readonly count: number;
  /** PostgreSQL commits wait for a standby. */
  readonly hasStandby: boolean;
}

export async function openChaosWorld(settings: ChaosSettings): Promise<ChaosWorld> {
  const { engine, hasRedis, onOutage, count, hasStandby } = settings;
  const stops: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const end of stops.splice(0).reverse()) await end();
  };
  try {
    const database = await startDatabase(engine, hasStandby);
    stops.push(() => database.stop());
    const store = hasRedis ? await startStore() : undefined;
    if (store) stops.push(() => store.stop());
    const links: Links[] = [];
    const disks: Disk[] = [];
    const follow = async (port: number | undefined) => {
      const proxy = port === undefined ? undefined : await startProxy(port);
      if (proxy) stops.push(() => proxy.stop());
      return proxy;
    };
    for (let index = 0; index < count; index += 1) {
      links.push({ database: await follow(database.server?.port), redis: await follow(store?.server.port) });
      const disk = await createDisk();
      disks.push(disk);
      stops.push(() => disk.stop());
    }
    let opened = 0;
    const address = (index: number) => ({
      database: replacePort(database.url, links[index]?.database),
      redis: store && replacePort(store.server.url, links[index]?.redis),
    });
    const newDisk = () => Promise.resolve((disks[opened++] as Disk).folder);
    const env = { FAIRWAY_QUOTA_ON_OUTAGE: onOutage };
    const scene = await openScene({
      database: database.url,
      replicas: { address, newDisk, env, count, program: undefined },
    });
    stops.push(() => scene.stop());
    const redirect = () => {
      for (const link of links) {
        if (link.database && database.server) lead(link.database, database.server.port);
        if (link.redis && store) lead(link.redis, store.server.port);
      }
    };
    return { database, store, links, disks, scene, redirect, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function replacePort(url: string, proxy: Proxy | undefined): string {
  return proxy ? Object.assign(new URL(url), { port: String(proxy.port) }).href : url;
}

function lead(proxy: Proxy, port: number): void {
  if (proxy.target === port) return;
  proxy.target = port;
  proxy.cut();
}
