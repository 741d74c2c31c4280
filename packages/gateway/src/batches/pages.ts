import { invalidRequest } from "../lib/app-error.ts";
import { findOwnBatch, listOwnBatches, type BatchOwner } from "./store.ts";
import type { BatchDeps, BatchRow } from "./types.ts";

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 1_000;

/** Returns the requested page of a list, newest first. Throws for ids and limits that fit nothing. */
export async function readPage(
  query: URLSearchParams,
  owner: BatchOwner,
  deps: Pick<BatchDeps, "database">,
): Promise<{ readonly rows: readonly BatchRow[]; readonly hasMore: boolean }> {
  const limit = readLimit(query.get("limit"));
  const after = query.get("after_id") ?? undefined;
  const before = query.get("before_id") ?? undefined;
  if (after !== undefined && before !== undefined)
    throw invalidRequest("before_id", "before_id: it cannot be sent together with after_id.");
  const id = after ?? before;
  const side = after === undefined ? "before" : "after";
  const row = id === undefined ? undefined : await findOwnBatch(deps, owner, id);
  if (id !== undefined && !row) throw invalidRequest(`${side}_id`, `${side}_id: no batch has this id.`);
  const found = await listOwnBatches(deps, owner, { limit }, row && { row, side });
  const rows = found.slice(0, limit);
  return { rows: side === "before" && row ? rows.toReversed() : rows, hasMore: found.length > limit };
}

export function buildPage(data: readonly unknown[], hasMore: boolean): unknown {
  const readId = (item: unknown) => (item as { readonly id: string } | undefined)?.id ?? null;
  return { data, has_more: hasMore, first_id: readId(data[0]), last_id: readId(data.at(-1)) };
}

function readLimit(text: string | null): number {
  if (text === null || text === "") return DEFAULT_LIMIT;
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw invalidRequest("limit", `limit: it must be a whole number from 1 to ${MAX_LIMIT}.`);
}
