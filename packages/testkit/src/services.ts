import { startMariadb } from "./services/mariadb.ts";
import { startPostgres } from "./services/postgres.ts";
import type { Service } from "./services/process.ts";
import { startRedis } from "./services/redis.ts";

export { freePort, type Service } from "./services/process.ts";
export { startClickhouse } from "./services/clickhouse.ts";
export { startGalera } from "./services/galera.ts";
export { startMariadb } from "./services/mariadb.ts";
export { startPostgres } from "./services/postgres.ts";
export { startRedis } from "./services/redis.ts";
export { startRedisCluster, type ClusterSettings, type RedisCluster } from "./services/redis-cluster.ts";
export { GROUP, startRedisGroup, type RedisGroup } from "./services/sentinels.ts";

export interface ServiceNeeds {
  readonly redis?: boolean;
  readonly mariadb?: boolean;
  readonly postgres?: boolean;
}

export interface Services {
  readonly redis?: Service;
  readonly mariadb?: Service;
  readonly postgres?: Service;
  stop(): Promise<void>;
}

/** Starts the named servers in parallel, each with its own port and data folder; all or none. */
export async function startServices(needs: ServiceNeeds): Promise<Services> {
  const [redis, mariadb, postgres] = await Promise.allSettled([
    needs.redis ? startRedis() : undefined,
    needs.mariadb ? startMariadb() : undefined,
    needs.postgres ? startPostgres() : undefined,
  ]);
  const started = [redis, mariadb, postgres].flatMap((result) =>
    result.status === "fulfilled" && result.value ? [result.value] : [],
  );
  const stop = async () => void (await Promise.all(started.map((service) => service.stop())));
  for (const result of [redis, mariadb, postgres]) {
    if (result.status === "fulfilled") continue;
    await stop();
    throw result.reason;
  }
  return {
    ...(redis.status === "fulfilled" && redis.value && { redis: redis.value }),
    ...(mariadb.status === "fulfilled" && mariadb.value && { mariadb: mariadb.value }),
    ...(postgres.status === "fulfilled" && postgres.value && { postgres: postgres.value }),
    stop,
  };
}
