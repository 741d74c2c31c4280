import type { IncomingHttpHeaders } from "node:http";
import { AppError, invalidRequest } from "../lib/app-error.ts";
import { seconds } from "../lib/clock.ts";
import { isDuplicate } from "../storage/errors.ts";
import { createAdmission } from "./admit.ts";
import type { CustomIds } from "./custom-ids.ts";
import { findBatchByKey, insertBatch, updateBatch } from "./store.ts";
import type { BatchDeps, BatchRow } from "./types.ts";

const HEADER = "idempotency-key";
const MAX_LENGTH = 255;
const STORED_SECONDS = 7 * 86_400;
const RETRY_CREATING_MS = 2_000;

type Stored = Pick<BatchDeps, "database" | "clock">;
type Limited = Stored & Pick<BatchDeps, "snapshots">;

/** Returns the key by which a client repeats a creation safely; throws for one that cannot be stored. */
export function readIdempotencyKey(headers: IncomingHttpHeaders): string | undefined {
  const value = headers[HEADER];
  if (value === undefined || value === "") return undefined;
  const key = Array.isArray(value) ? value.join(",") : value;
  if (key.length <= MAX_LENGTH && /^[\x20-\x7e]+$/.test(key)) return key;
  throw invalidRequest(HEADER, `The header Idempotency-Key may have up to ${MAX_LENGTH} printable characters.`);
}

/** Returns the batch that an equal call has made; throws if the key belongs to a different call. */
export async function findRepeated(
  { userId, key, hash }: { readonly userId: number; readonly key: string | undefined; readonly hash: string },
  deps: Stored,
): Promise<BatchRow | undefined> {
  const row = key === undefined ? undefined : await findBatchByKey(deps, userId, key);
  if (!row) return undefined;
  if (seconds(deps.clock) - row.created_at > STORED_SECONDS) {
    await updateBatch(deps, row.id, [row.phase], { idempotency_key: null });
    return undefined;
  }
  if (row.body_hash !== hash) throw new AppError("idempotency_conflict", { param: HEADER, retryable: false });
  if (row.phase === "creating") throw notReady(row.id);
  return row;
}

function notReady(id: string): AppError {
  return new AppError("batch_not_ready", { values: { id }, retryAfterMs: RETRY_CREATING_MS });
}

/**
 * Inserts a row, unless an equal call with the same key was faster: then the batch of that call is returned. Throws
 * `batch_limit_exceeded` and `batch_queue_full`.
 */
export async function insertOnce(
  row: BatchRow,
  customIds: CustomIds | undefined,
  deps: Limited,
): Promise<BatchRow | undefined> {
  try {
    // One that was refused for its lines is never open.
    const admit = row.phase === "creating" ? createAdmission(row, deps) : undefined;
    await insertBatch(deps, row, customIds?.toText(), admit);
    return undefined;
  } catch (error) {
    const [key, hash] = [row.idempotency_key ?? undefined, row.body_hash];
    // The equal call may also have taken the last place.
    const mayRepeat = isDuplicate(error) || error instanceof AppError;
    const repeated = mayRepeat ? await findRepeated({ userId: row.user_id, key, hash }, deps) : undefined;
    if (!repeated) throw error;
    return repeated;
  }
}
