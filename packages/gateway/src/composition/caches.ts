import type { Core } from "./core.ts";
import { createFindCaches } from "../caches/find-caches.ts";
import { createCacheHandler, type CacheHandler } from "../caches/handler.ts";
import { createRemoveCache, type RemoveCache } from "../caches/management.ts";
import { sweepCaches } from "../caches/sweep.ts";
import type { CacheDeps, StoredCacheDeps } from "../caches/types.ts";
import type { ScheduledJob } from "../jobs/schedule.ts";
import type { ReadRequestDeps } from "../relay/ingress/read-request.ts";
import type { ObjectLibrary } from "../objects/library.ts";
import type { PipelineDeps } from "../relay/pipeline/enter-model.ts";
import type { FindFiles } from "../relay/tenancy/stored-files.ts";

/** Caches may wait longer than open batches. */
const RARELY = 6;

/** Prompts that upstreams cache for clients: their routes, and the job that charges their storage. */
export interface Caches {
  readonly handler: CacheHandler;
  /** Finds files and caches that a request names. */
  readonly findStored: FindFiles;
  readonly remove: RemoveCache;
  readonly jobs: readonly ScheduledJob[];
}

export interface CachePartsDeps {
  readonly core: Core;
  readonly pipeline: PipelineDeps;
  readonly reading: ReadRequestDeps;
  readonly objects: Pick<StoredCacheDeps, "call" | "hashKey"> & {
    readonly library: ObjectLibrary;
    readonly findFiles: FindFiles;
  };
}

export function createCaches({ core, pipeline, reading, objects }: CachePartsDeps): Caches {
  const { storage } = core;
  const { findFiles, library, call, hashKey } = objects;
  const stored = { ...core, database: storage.database, library, call, hashKey };
  const findCaches = createFindCaches(stored);
  const findStored: FindFiles = async (names, caller) => {
    const [files, caches] = await Promise.all([findFiles(names, caller), findCaches(names, caller)]);
    return caches.size === 0 ? files : new Map([...files, ...caches]);
  };
  const deps: CacheDeps = {
    ...stored,
    authenticator: reading.authenticator,
    calls: reading.calls,
    running: pipeline.running,
    selection: pipeline.routing.selection,
    checkWords: pipeline.policy.checkWords,
    guardrail: pipeline.policy.responses.guardrail,
    tenancy: { owners: pipeline.upstream.owners, deriveId: reading.deriveId, findFiles },
    bodyLimits: reading.bodyLimits,
  };
  return {
    handler: createCacheHandler(deps),
    findStored,
    remove: createRemoveCache(deps),
    jobs: [
      {
        name: "cache-sweep",
        isLeaderOnly: true,
        everyMs: RARELY * core.env.batchIntervalMs,
        run: (signal, confirm) => sweepCaches(deps, signal, confirm),
      },
    ],
  };
}
