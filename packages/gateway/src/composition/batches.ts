import type { Core } from "./core.ts";
import type { Objects } from "./objects.ts";
import { createBatchHandler, type BatchHandler } from "../batches/handler.ts";
import { tidyBatches } from "../batches/jobs.ts";
import { pollDueBatches } from "../batches/poll.ts";
import { settleEndedBatches } from "../batches/settle.ts";
import type { BatchDeps } from "../batches/types.ts";
import { createBatchUpstream } from "../batches/upstream.ts";
import type { ScheduledJob } from "../jobs/schedule.ts";
import type { PipelineDeps } from "../relay/pipeline/enter-model.ts";
import type { ReadRequestDeps } from "../relay/ingress/read-request.ts";

const WORK_MS = 5_000;
const TIDY_MS = 30_000;

/** Batches: their routes, and the jobs that follow and book them. */
export interface Batches {
  readonly handler: BatchHandler;
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
    upstream: createBatchUpstream(pipeline),
    counter: pipeline.counter,
    calls: reading.calls,
    checkWords: pipeline.checkWords,
    guardrail: pipeline.policies.guardrail,
    owners: pipeline.owners,
    deriveId: reading.deriveId,
    bodyLimits: reading.bodyLimits,
    library: objects.library,
    hashKey: storage.vault.hashKey,
    publicUrl: () => snapshots.current().options.ServerAddress.replace(/\/+$/, "") || env.publicUrl,
    random: Math.random,
  };
  return {
    handler: createBatchHandler(deps),
    jobs: [
      leaderJob("batch-poll", WORK_MS, (signal) => pollDueBatches(deps, signal)),
      leaderJob("batch-settle", WORK_MS, (signal, confirm) => settleEndedBatches(deps, { signal, confirm })),
      leaderJob("batch-tidy", TIDY_MS, (signal) => tidyBatches(deps, signal)),
    ],
  };
}

function leaderJob(name: string, everyMs: number, run: ScheduledJob["run"]): ScheduledJob {
  return { name, everyMs, isLeaderOnly: true, run };
}
