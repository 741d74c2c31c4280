import { randomUUID } from "node:crypto";
import type { Core } from "./core.ts";
import { createDatabaseElector, createSingleElector, type Elector } from "../jobs/leader.ts";
import type { Runnable } from "../lib/async/runnable.ts";
import type { PipelineDeps } from "../relay/pipeline/pipeline.ts";
import { createReplicaReports } from "../resources/system/replicas.ts";
import { VERSION } from "../version.ts";

/** Decides which replica runs the work of the leader. */
export function electorOf({ env, storage, clock, log, metrics }: Core): Elector {
  const elector = env.isEmbedded
    ? createSingleElector()
    : createDatabaseElector({
        database: storage.database.raw,
        holder: `${env.instanceId}-${randomUUID()}`,
        clock,
        log,
        metrics,
      });
  elector.subscribe((isLeader) => {
    if (!isLeader) metrics.setChannels([]);
  });
  metrics.watch({ isLeader: () => elector.isLeader });
  return elector;
}

/** Says every few seconds that this replica runs, and how busy it is. */
export function replicaReports(
  { env, storage, clock, log }: Core,
  { running }: PipelineDeps,
  elector: Elector,
): Runnable {
  return createReplicaReports({
    ...storage,
    clock,
    log,
    instance: env.instanceId,
    version: VERSION,
    isLeader: () => elector.isLeader,
    running: () => running.requests,
  });
}
