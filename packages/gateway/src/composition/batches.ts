import type { Core } from "./core.ts";
import type { Objects } from "./objects.ts";
import { countBatches } from "../batches/count-batches.ts";
import { createBatchHandler, type BatchHandler } from "../batches/handler.ts";
import { tidyBatches } from "../batches/jobs.ts";
import { createBatchManagement, type BatchManagement } from "../batches/management/management.ts";
import { pollDueBatches } from "../batches/poll.ts";
import { settleEndedBatches } from "../batches/settle.ts";
import type { BatchDeps } from "../batches/types.ts";
import { createBatchUpstream } from "../batches/upstream.ts";
import type { ScheduledJob } from "../jobs/schedule.ts";
import { NO_BATCHES } from "../observability/batch-metrics.ts";
import type { PipelineDeps } from "../relay/pipeline/enter-model.ts";
import type { ReadRequestDeps } from "../relay/ingress/read-request.ts";

/** Lost creations, deleted batches and counts may wait longer than open batches. */
const RARELY = 6;

/** Batches: their routes, and the jobs that follow and book them. */
export interface Batches {
  readonly handler: BatchHandler;
  /** What people do with batches over the management API. */
  readonly batchManagement: BatchManagement;
  readonly jobs: readonly ScheduledJob[];
}

export interface BatchPartsDeps {
  readonly core: Core;
  readonly pipeline: PipelineDeps;
  readonly reading: ReadRequestDeps;
  readonly objects: Pick<Objects, "library">;
}

export function createBatches({ core, pipeline, reading, objects }: BatchPartsDeps): Batches {
  const { storage, env, snapshots } = core;
  const deps: BatchDeps = {
    ...core,
    database: storage.database,
    authenticator: reading.authenticator,
    upstream: createBatchUpstream(pipeline.upstream),
    counter: pipeline.money.counter,
    calls: reading.calls,
    checkWords: pipeline.policy.checkWords,
    guardrail: pipeline.policy.responses.guardrail,
    owners: pipeline.upstream.owners,
    deriveId: reading.deriveId,
    bodyLimits: reading.bodyLimits,
    library: objects.library,
    hashKey: storage.vault.hashKey,
    publicUrl: () => snapshots.current().options.ServerAddress.replace(/\/+$/, "") || env.publicUrl,
    random: Math.random,
  };
  const rareMs = RARELY * env.batchIntervalMs;
  const counted = { counts: NO_BATCHES, at: 0 };
  // A process that no longer leads must not repeat what it read before.
  core.metrics.watch({
    batchCounts: () => (core.clock.now() - counted.at < 3 * rareMs ? counted.counts : NO_BATCHES),
  });
  return {
    handler: createBatchHandler(deps),
    batchManagement: createBatchManagement(deps),
    jobs: [
      leaderJob("batch-poll", env.batchIntervalMs, (signal) => pollDueBatches(deps, signal)),
      leaderJob("batch-settle", env.batchIntervalMs, (signal, confirm) =>
        settleEndedBatches(deps, { signal, confirm }),
      ),
      leaderJob("batch-count", rareMs, async () => {
        Object.assign(counted, { counts: await countBatches(deps), at: core.clock.now() });
      }),
      leaderJob("batch-tidy", rareMs, (signal) => tidyBatches(deps, signal)),
    ],
  };
}

function leaderJob(name: string, everyMs: number, run: ScheduledJob["run"]): ScheduledJob {
  return { name, everyMs, isLeaderOnly: true, run };
}
