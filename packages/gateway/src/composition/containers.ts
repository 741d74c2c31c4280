import type { Core } from "./core.ts";
import { createContainerHandler, type ContainerHandler } from "../containers/handler.ts";
import { createMintedContainers } from "../containers/minted.ts";
import type { ObjectDeps } from "../objects/object-call.ts";
import type { PipelineDeps } from "../relay/pipeline/enter-model.ts";
import type { FindFiles } from "../relay/tenancy/stored-files.ts";

export interface ContainerPartsDeps {
  readonly core: Core;
  readonly pipeline: PipelineDeps;
  readonly objects: ObjectDeps;
  readonly findFiles: FindFiles;
}

/** Creates the routes of the containers in which vendors run code. */
export function createContainers({ core, pipeline, objects, findFiles }: ContainerPartsDeps): ContainerHandler {
  const { ledger, budgets, snapshots, log } = core;
  const { owners } = pipeline.upstream;
  const minted = createMintedContainers({ ...objects, log });
  owners.watch((id, account) => minted.note(id, account));
  return createContainerHandler({
    ...objects,
    ledger,
    budgets,
    snapshots,
    findFiles,
    owners,
    minted,
  });
}
