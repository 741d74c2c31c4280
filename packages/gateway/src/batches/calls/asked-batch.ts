import { AppError } from "../../lib/app-error.ts";
import type { BatchProtocol } from "../protocols/protocol.ts";
import { findOwnBatch } from "../store.ts";
import type { BatchCall, BatchDeps, BatchRow } from "../types.ts";

/** A call of a batch route, with what its path names. */
export interface AskedBatch {
  readonly call: BatchCall;
  readonly method: string;
  readonly id: string | undefined;
  readonly rest: string;
}

export function requireMethod({ request, response }: BatchCall, method: string, allowed: readonly string[]): void {
  if (allowed.includes(method)) return;
  response.setHeader("allow", allowed.join(", "));
  const path = (request.url ?? "").split("?", 1)[0] ?? "";
  throw new AppError("method_not_allowed", { values: { method, path: path.slice(0, 200) } });
}

/** Throws the same error for an unknown id, a deleted batch and another user's. */
export async function requireOwn(
  { caller }: BatchCall,
  { id: dialect }: BatchProtocol,
  id: string,
  deps: BatchDeps,
): Promise<BatchRow> {
  const row = await findOwnBatch(deps, { userId: caller.userId, dialect }, id);
  if (row) return row;
  throw new AppError("object_not_found", { values: { kind: "batch", id: id.slice(0, 128) } });
}
