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

/** Throws if the caller may not create a batch now, unless a call with an idempotency key may be about an older one. */
export async function admitBatch(
  caller: Caller,
  key: string | undefined,
  deps: Pick<BatchDeps, "snapshots" | "database">,
): Promise<void> {
  const { BatchEnabled, BatchGroups } = deps.snapshots.current().options;
  const isAllowed = BatchGroups.length === 0 || BatchGroups.includes(caller.group);
  if (!BatchEnabled || !isAllowed) throw new AppError("batches_not_allowed", { values: { group: caller.group } });
  const admit = createOpenLimit(deps);
  // A large body is refused before it is read; the batch is counted again when its row is written.
  if (admit && key === undefined) admit(await countOpenBatches(deps, caller.userId));
}

/** Returns what throws if a user with so many open batches may have no further one; undefined = no limit. */
export function createOpenLimit({ snapshots }: Pick<BatchDeps, "snapshots">): ((open: number) => void) | undefined {
  const limit = snapshots.current().options.BatchMaxOpenPerUser;
  if (limit === 0) return undefined;
  return (open) => {
    if (open < limit) return;
    throw new AppError("batch_limit_exceeded", { values: { open, limit }, retryAfterMs: RETRY_FULL_MS });
  };
}
