import { serverAddress } from "@fairway/wire";
import { createCaches } from "./caches.ts";
import { createContainers } from "./containers.ts";
import type { Core } from "./core.ts";
import { rememberHashes } from "../identity/keys/key-hashes.ts";
import type { ScheduledJob } from "../jobs/schedule.ts";
import { renameFileModels } from "../batches/files/rename-models.ts";
import { markKey } from "../snapshot/key-marks.ts";
import { adoptMinted } from "../objects/adopt-minted.ts";
import type { ContainerHandler } from "../containers/handler.ts";
import type { CacheHandler } from "../caches/handler.ts";
import type { RemoveCache } from "../caches/management.ts";
import { createObjectHandler, type ObjectHandler } from "../objects/handler.ts";
import { createFindFiles } from "../objects/find-files.ts";
import { createLibrary, type LibraryDeps, type ObjectLibrary } from "../objects/library.ts";
import type { ObjectDeps } from "../objects/object-call.ts";
import { countByKey } from "../objects/count-by-key.ts";
import { createSpoolRoom } from "../objects/spool-room.ts";
import { createObjectStore } from "../objects/store.ts";
import { deleteObject } from "../objects/stored-files.ts";
import { sweepObjects } from "../objects/sweep.ts";
import type { Usage } from "../objects/usage.ts";
import { createCallAccount } from "../objects/upstream.ts";
import type { ReadRequestDeps } from "../relay/ingress/read-request.ts";
import type { StoredFiles } from "../resources/files/routes.ts";
import type { FindFiles } from "../relay/tenancy/stored-files.ts";
import type { PipelineDeps } from "../relay/pipeline/enter-model.ts";

const NOTHING: Usage = { files: 0, bytes: 0 };
const DELETE_MS = 30_000;
const SWEEP_MS = 60_000;

/** Files, containers and caches that clients have at upstreams: their routes, their sweeps, and what other parts use of them. */
export interface Objects extends LibraryDeps {
  readonly library: ObjectLibrary;
  readonly handler: ObjectHandler;
  readonly cacheHandler: CacheHandler;
  readonly containerHandler: ContainerHandler;
  /** Finds files and caches. */
  readonly findFiles: FindFiles;
  readonly storedFiles: StoredFiles;
  readonly removeCache: RemoveCache;
  readonly jobs: readonly ScheduledJob[];
}

export function createObjects(core: Core, pipeline: PipelineDeps, reading: ReadRequestDeps): Objects {
  const { env, storage, clock, snapshots, metrics } = core;
  const stored: LibraryDeps = {
    store: createObjectStore({ raw: storage.database.raw, clock }),
    snapshots,
    call: createCallAccount(pipeline.upstream),
    hashKey: rememberHashes(storage.vault.hashKey),
    clock,
  };
  const { owners } = pipeline.upstream;
  const adopting = {
    ...stored,
    channels: () => snapshots.current().channels,
    findNamed: (id: string, userId: number) => owners.find(id, userId),
  };
  const library = createLibrary({ ...stored, adopt: (id, viewer) => adoptMinted(id, viewer, adopting) });
  const deps: ObjectDeps = {
    ...stored,
    library,
    authenticator: reading.authenticator,
    calls: reading.calls,
    running: pipeline.running,
    selection: pipeline.routing.selection,
    vault: storage.vault,
    room: createSpoolRoom({ maxUploads: env.maxUploads, disk: reading.bodyLimits.disk }),
    memory: reading.bodyLimits.memory,
    maxFileBytes: env.maxFileBytes,
    publicUrl: () => serverAddress(snapshots.current().options, env.publicUrl ?? "") || undefined,
    prepare: renameFileModels,
    uploaded: metrics.uploaded,
  };
  const findFiles = createFindFiles({ ...stored, library });
  const caches = createCaches({ core, pipeline, reading, objects: { ...stored, library, findFiles } });
  return {
    ...stored,
    library,
    handler: createObjectHandler(deps),
    cacheHandler: caches.handler,
    containerHandler: createContainers({ core, pipeline, objects: deps, findFiles }),
    findFiles: caches.findStored,
    storedFiles: createStoredFiles(stored, pipeline),
    removeCache: caches.remove,
    jobs: [...caches.jobs, createSweep(stored, core)],
  };
}

function createSweep(stored: LibraryDeps, { clock, log, metrics }: Core): ScheduledJob {
  const sweeps = { total: NOTHING, at: 0 };
  // A process that no longer leads must not repeat what it read before.
  metrics.watch({ storedFiles: () => (clock.now() - sweeps.at < 3 * SWEEP_MS ? sweeps.total : NOTHING) });
  return {
    name: "object-sweep",
    isLeaderOnly: true,
    everyMs: SWEEP_MS,
    async run(signal, confirm) {
      await sweepObjects({ ...stored, log }, signal, confirm);
      Object.assign(sweeps, { total: await stored.store.total(), at: clock.now() });
    },
  };
}

function createStoredFiles(stored: LibraryDeps, { running }: Pick<PipelineDeps, "running">): StoredFiles {
  const { store, snapshots, hashKey } = stored;
  return {
    objects: store,
    listMarks: (id) =>
      snapshots
        .current()
        .channels.get(id)
        ?.keys.map((key) => markKey(key, hashKey)),
    countRunning: (id) => countByKey(running.all(), { channelId: id, hashKey }),
    remove: (object) => deleteObject(object, AbortSignal.timeout(DELETE_MS), stored),
  };
}
