import type { Core } from "./core.ts";
import type { Elector } from "../jobs/leader.ts";
import type { Runnable } from "../lib/async/runnable.ts";
import type { PipelineDeps } from "../relay/pipeline/enter-model.ts";
import { createReplicaReports } from "../resources/system/replicas.ts";
import { VERSION } from "../version.ts";

/** Reports every few seconds that this replica is running, and how busy it is. */
export function replicaReports(
  { env, storage, clock, log, snapshots }: Core,
  { running }: PipelineDeps,
  elector: Elector,
): Runnable {
  return createReplicaReports({
    ...storage,
    clock,
    log,
    instance: env.instanceId,
    version: VERSION,
    leading: elector,
    running,
    snapshots,
  });
}
