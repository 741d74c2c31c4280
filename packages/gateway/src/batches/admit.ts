import { AppError } from "../lib/app-error.ts";
import type { OptionValues } from "@fairway/wire";
import type { Caller } from "../identity/authentication/caller.ts";
import { countOpenBatches } from "./store.ts";
import type { BatchDeps } from "./types.ts";

const RETRY_FULL_MS = 300_000;
const MEGABYTE = 1024 * 1024;

/** What one batch may have. */
export interface BatchLimits {
  readonly maxItems: number;
  readonly maxBytes: number;
}

export function readBatchLimits({ BatchMaxItems, BatchMaxMegabytes }: OptionValues): BatchLimits {
  return { maxItems: BatchMaxItems, maxBytes: BatchMaxMegabytes * MEGABYTE };
}

/** Throws if the caller may not create a batch now. */
export async function admitBatch(caller: Caller, deps: Pick<BatchDeps, "snapshots" | "database">): Promise<void> {
  const { BatchEnabled, BatchGroups, BatchMaxOpenPerUser } = deps.snapshots.current().options;
  const isAllowed = BatchGroups.length === 0 || BatchGroups.includes(caller.group);
  if (!BatchEnabled || !isAllowed) throw new AppError("batches_not_allowed", { values: { group: caller.group } });
  if (BatchMaxOpenPerUser === 0) return;
  const open = await countOpenBatches(deps, caller.userId);
  if (open < BatchMaxOpenPerUser) return;
  throw new AppError("batch_limit_exceeded", {
    values: { open, limit: BatchMaxOpenPerUser },
    retryAfterMs: RETRY_FULL_MS,
  });
}
