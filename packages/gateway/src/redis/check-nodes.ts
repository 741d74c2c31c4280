import type { Logger } from "../observability/log.ts";
import type { RedisClient } from "./client.ts";

const TIMEOUT_MS = 5_000;

/** Warns, once for all nodes of a cluster, of settings that make the loss of one node worse than necessary. */
export async function warnAboutNodes(
  redis: RedisClient,
  infos: readonly Readonly<Record<string, string>>[],
  log: Logger,
): Promise<void> {
  const alone = infos.filter((info) => info["connected_slaves"] === "0").map(({ name }) => name);
  if (alone.length > 0)
    log.warn(
      "primaries of the Redis Cluster have no replica: if one fails, requests of its users are refused; add replicas",
      { nodes: alone },
    );
  const needsAll = (
    await Promise.all(redis.servers().map(async (server) => ((await isAllOrNothing(server)) ? [server.name] : [])))
  ).flat();
  if (needsAll.length > 0)
    log.warn("the Redis Cluster serves nothing while one slot has no primary: set cluster-require-full-coverage no", {
      nodes: needsAll,
    });
}

/** Returns false if a managed service hides the setting. */
async function isAllOrNothing({ sendOne }: ReturnType<RedisClient["servers"]>[number]): Promise<boolean> {
  const name = "cluster-require-full-coverage";
  const answer = await sendOne({ command: "config", args: ["get", name] }, TIMEOUT_MS).catch(() => []);
  return (answer as readonly unknown[])[1] === "yes";
}
